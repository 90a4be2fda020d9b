// Package linear decides whether a history is linearizable with respect to the sequential specification of its locks,
// and explains a violation.
//
// [Check] decides lock by lock, in these steps ([Validate] checks whether a history is well-formed):
//
//	linearizable.go    the fast check first, then the search
//	normalise*.go      events become operations: the meaning of each answer, the acquire that a release ends,
//	                   and how long an unanswered operation may still take effect
//	classify.go        which operations have a known moment of effect
//	frontier*.go       the fast check: it follows the possible states of the lock from event to event
//	pending.go         unanswered acquires in the fast check
//	permits.go         the fast check of locks whose permits have no numbers
//	slow.go            the search decides the rest, within a number of steps
//	spec_*.go          the sequential specification, and the history as atomic steps of it
//	linearizer.go      the search: just-in-time linearization
//	explain.go         the reason for a violation, in one line
//	validate.go        whether a history is well-formed
//
// A history that is too long for memory is checked while it is read ([CheckRead]):
//
//	read.go            lock by lock, in one or more passes
//	roll.go            the part of the past that is kept, and assumptions about events not read yet
//
// The tests compare with porcupine and with a brute-force search. readings.go has the choices about the meaning of a
// release, on which models of locks differ.
package linear
