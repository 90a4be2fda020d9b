// Package anynumber visits the executions of any number of clients at once. It proves that a lock is right for every
// number of clients. README.md explains the method and its assumptions.
//
// The search follows one client, together with its context: the shared part of the state, and the roles of the clients
// that hold something (holders). A context with one client's state is a view. There are finitely many views. The search
// ends when no action in a view leads to a new view.
//
//	search.go                     configuration, and the rounds
//	context.go, roles.go          contexts, and the roles of holders
//	moves.go, process.go          a client's moves in a context, and their effects on others (effect.go)
//	solo.go                       a client that runs alone
//	real.go, cutoff.go            executions of real clients that show a violation, and the cutoff
//	checkpoint.go, saved.go       saving and resuming a search
package anynumber
