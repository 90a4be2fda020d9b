// Package pinned holds what tests compute from many random inputs against a file: for every block of inputs one line,
// with how often what happened, a digest of everything that was seen, and one character for each input, by which a test
// that fails says which input it was.
//
// It tells that something is different, and not that it is wrong: other tests say what is right.
package pinned
