// Package pinned compares what tests compute from many random inputs with a file that was kept, and says which input differs.
// The file has a line for each block of inputs: how often what happened, a digest of everything that was seen, and one
// character for each input.
//
// It tells that something is different, and not that it is wrong: other tests say what is right.
package pinned
