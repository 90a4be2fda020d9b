// Package search visits every execution of a bounded configuration breadth first: every interleaving of the clients'
// commands, every placement of the faults, every choice of a random option. It visits the world of package sim, which
// also runs scenarios; there is no second model.
//
// A state has one shared part and one part for each client. There are few parts, and many combinations of them. Each
// part is stored once and has a number; a state is a handful of numbers. The world carries out an action once for
// each combination of inputs that it can depend on ([sim.System.Independent]); a memo table keeps the result. A
// state's fingerprint is the sum of its parts' fingerprints. It is therefore cheap, and it is equal for states that
// differ only by a permutation of clients with one workload (symmetry).
//
// Where time matters, an action depends on the whole state, and the memo tables are not used. The world then carries out each
// action of a state. It reads the state once, and returns to it by copying if the backend can keep a state aside
// ([sim.Keeping]). Only parts that an action has changed are looked up.
//
// [Run] visits; its [Storage] says how seen states are stored, and a checkpoint resumes it. It also finds out whether
// executions can go on forever ([Cycles]). [Walk] samples random executions of configurations that are too large to
// visit.
//
//	search.go, moves.go, batch.go  the options, and the workers that visit states
//	internal/states                the parts of states, and their encoding in files
//	visible.go, memo.go            the visible part of a client, and the memo tables
//	visited.go, exact.go, bits.go  the seen states, by the kinds of storage.go
//	reductions.go                  executions that are left out because their steps are independent
//	counterexample.go              a shortest execution to a violation
//	partgraph.go                   what shows that every execution ends without a graph of all states
//	cycles.go, fair_cycle.go       executions without an end, on the graph of stategraph.go
//	checkpoint.go, resume.go, saved_states.go   saving and resuming a search; checkpoint.go has the format
//	walk.go, walker.go             random executions
//	anynumber                      the search for any number of clients
package search
