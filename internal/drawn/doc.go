// Package drawn draws histories to test judges of histories. They are histories of clients of a right lock, among
// faults. Small changes afterwards make many of them illegal and some malformed. Choices come from a seed, or from
// the bytes of a fuzzer. [Script] reads a history from lines.
package drawn
