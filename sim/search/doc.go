// Package search visits every execution of a bounded configuration breadth first: every interleaving of the clients'
// commands, every placement of the faults, every choice of a random option. The simulation of package sim, which also
// runs scenarios, executes the actions; there is no second model.
//
// A state has one shared part and one part for each client. There are few parts, and many combinations of them. Each
// part is stored once and has a number; a state is a handful of numbers. The simulation executes an action once for
// each combination of inputs that the action can depend on ([sim.System.Independent]); a memo table stores the result.
// A state's fingerprint is computed from the sum of its parts' hashes. The sum is cheap to compute, and equal for
// states that differ only by a permutation of clients with the same workload (symmetry).
//
// If time matters, an action depends on the whole state, and no memo tables are used. The simulation then executes each
// action of each state. It decodes the state once for all actions if the backend can save and restore a copy
// ([sim.Keeping]). Only parts that an action has changed are looked up.
//
// [Run] visits all executions. [Storage] selects how it stores seen states. A checkpoint saves a search, so that it can
// be resumed. Run also finds out whether executions can go on forever ([Cycles]). [Walk] samples random executions of
// configurations that are too large to visit.
//
//	search.go, moves.go, batch.go  the options, and the workers that visit states
//	states                         the parts of states, and their encoding in files
//	visible.go, memo.go            the visible part of a client, and the memo tables
//	visited.go, exact.go, bits.go  the set of seen states, for each kind of storage.go
//	reductions.go                  leaving out executions that are equivalent to visited ones
//	counterexample.go              a shortest execution to a violation
//	partgraph.go                   a proof that every execution ends, without a graph of all states
//	cycles.go, fair_cycle.go       executions without an end, on the graph of stategraph.go
//	checkpoint.go, resume.go, saved_states.go   saving and resuming a search; checkpoint.go has the format
//	walk.go, walker.go             random executions
//	anynumber                      the search for any number of clients
package search
