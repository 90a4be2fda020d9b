// Mutate injects single bugs into lockproof and reports those that its short tests do not notice.
//
// Every bug is one change: a condition negated, a statement left out, < for <=, a constant one off.
// All bugs of a sample are compiled into one copy of the module, each behind a switch. An environment variable turns one of
// them on, so building takes as long as it does for one bug. The copy's tests are run once without any bug, one by one, to
// see which of them reach which bug. Each bug is then given to these tests only, those of its own package first and the
// quickest first. A bug that no test reaches is reported as unreached at once. Time is that of the processor, so that a
// busy machine changes nothing. Bugs ended by their limit are counted apart. The checkout is never written to.
//
// Some changes are never made, since they can't make a difference to a verdict. Capacities (of make, Grow, buffers) cost
// time alone. A panic's text and the panic itself matter only if there is another bug. Numbers in types and keys of arrays
// are no expressions that could be changed.
//
// A seed and a size determine the sample; results are kept beside the copy, so that a run that was ended
// goes on where it was. Bugs that make no difference are listed in equivalent.txt, with the reason.
//
// Two seeds that had not been looked at before (-n 140 -seed 7719340211 and 1180226353) gave 280 bugs, and ten survived.
// Three make no difference and are listed; searches for one property of a user's own have a test since. Six are left, 2.1
// in a hundred: the most slots that a history may have that is judged as it is read; whether, in the fast check, a state in
// which the last refused acquire has its moment already is looked at again; memory of a search that is given back at its
// end; the process numbers of a world that was loaded, which has no history; whether a dead client counts as the owner of a
// slot without one; and a refresh whose answer comes twice.
package main
