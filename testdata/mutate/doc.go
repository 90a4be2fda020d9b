// Mutate injects single bugs into lockproof and reports those that its short tests do not notice.
//
// Every bug is one change: a condition negated, a statement left out, < for <=, a constant one off.
// All bugs of a sample are compiled into one copy of the module, each behind a switch, and an environment
// variable turns one of them on: building takes as long as it does for one bug. The copy's tests are run
// once without any bug, one by one, to see which of them come by which bug; each bug is then given to
// those only, of its own package first and the quickest first, and one that no test reaches is reported as
// unreached at once. Time is that of the processor, so that a busy machine changes nothing; how many
// bugs were ended by their limit is told apart. The checkout is never written to.
//
// Some changes are never made, since they can't make a difference to a verdict: in how much room is made beforehand
// (capacities of make, Grow, sizes of buffers), which costs time alone; in what a panic says; and leaving out a panic,
// for what it is there for does not happen unless there is another bug. Numbers in types and keys of arrays are no
// expressions that could be changed.
//
// A seed and a size determine the sample; results are kept beside the copy, so that a run that was ended
// goes on where it was. What makes no difference is listed in equivalent.txt, with the reason.
//
// Of 280 bugs of a seed that had not been looked at before (-n 280 -seed 6606131774) twenty survived, 7.2 in a hundred: none
// of 80 in the monitor and the minimiser, seven of 40 in the search, five of 40 in the readers. Nine of them have a test
// since, are in code that is gone, or are listed; eleven are left.
package main
