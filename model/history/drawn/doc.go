// Package drawn draws histories for the tests of those who judge histories: of clients of a lock that is right, among faults,
// and changed a little afterwards, so that many are illegal and some are none. Choices come from a seed, or from the bytes of a
// fuzzer. [Script] reads a history from lines.
package drawn
