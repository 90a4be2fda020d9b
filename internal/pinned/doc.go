// Package pinned compares what tests come to with texts in testdata. A test that fails prints the lines that differ,
// old and new, as git does once a file is rewritten.
//
// A [File] is the table of many random inputs. It has a line for each block of inputs, with counts over all of them,
// and below it rows with the facts of single inputs. If a row cannot hold all that is compared, the block's line ends
// with a digest of the rest.
//
// A difference is not a mistake yet: other tests say which result is right.
package pinned
