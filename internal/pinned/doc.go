// Package pinned compares the results of tests with texts in testdata. If they differ, the test fails and prints the
// old and new lines. With -rewrite, the test writes the new text to the file instead.
//
// A [File] is a table of the results for many random inputs. It has a line for each block of inputs, with counts over
// all of them. Below that line are rows with facts about single inputs. The block's line may end with a digest of
// everything that has no row.
//
// A difference is not necessarily a mistake: other tests decide which result is right.
package pinned
