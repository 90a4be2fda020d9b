// Package anynumber visits the executions of any number of clients at once: it proves that a lock is right however many
// use it. README.md says how, and what is assumed.
//
// A client in one of its states is followed together with what it can see: what everybody shares, and what may be seen of
// those that hold something. There are finitely many such views. The search is over once no action in a view leads to one
// that was not there.
//
//	search.go                     what is asked for, and the rounds
//	context.go, roles.go          what is shared, and who is there that holds something
//	moves.go, process.go          what a client does in a context, and what that does to the others (effect.go)
//	solo.go                       what becomes of a client that runs alone
//	real.go, cutoff.go            executions of real clients, for what was found violated, and how many have all views
//	checkpoint.go, saved.go       leaving a search and going on with it
package anynumber
