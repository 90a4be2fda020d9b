// Package pinned compares the results of tests for many random inputs with a stored file, and names the first input
// that differs. The file has a line for each block of inputs: counts of events, a digest of all output, and one
// character for each input.
//
// It shows that a result differs, not that it is wrong: other tests say which result is right.
package pinned
