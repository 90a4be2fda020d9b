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
// Of 280 bugs of two seeds that had not been looked at before (-n 140 -seed 7719340211 and 1180226353) ten survived. Three
// make no difference and are listed; searches for one property of a user's own have a test since. Six are left, 2.1 in a
// hundred: the most slots that a history may have that is judged as it is read; whether, in the fast check, a state in
// which the last refused acquire has its moment already is looked at again; memory of a search that is given back at its
// end; the process numbers of a world that was loaded, which has no history; whether a dead client counts as the owner of a
// slot without one; and a refresh whose answer comes twice.
package main
