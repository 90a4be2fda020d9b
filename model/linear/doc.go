// Package linear takes a history and says whether it is a linearizable history of the sequential specification of its
// locks, and why not.
//
// [Check] decides lock by lock, in these steps ([Validate] says whether something is a history at all):
//
//	linearizable.go    the fast check first, then the search for what that leaves undecided
//	normalise*.go      events become calls: what each answer says of the lock, which acquire a release ends,
//	                   and until when a call without an answer may still take effect
//	classify.go        which calls have a known moment, and for which one is searched
//	frontier*.go       the fast check: the states that the lock may be in are followed from event to event
//	pending.go         acquires without an answer, within the fast check
//	permits.go         the fast check of locks whose permits have no numbers
//	slow.go            what the fast check leaves undecided is searched, within a number of steps
//	spec_*.go          the sequential specification, and the history as atomic steps of it
//	linearizer.go      the search: just-in-time linearization
//	explain.go         why a history is illegal, in one line
//	validate.go        whether something is a history
//
// A history that is too long to be at hand as a whole is checked as it is read ([CheckRead]):
//
//	read.go            lock by lock, as often as it takes
//	roll.go            what of the beginning is kept, and what is assumed of events that have not been read
//
// porcupine and a brute-force search are the oracles that the tests compare with. In readings.go are the ways to read
// a call of release, on which models of locks differ.
package linear
