// Package search visits every execution of a bounded configuration: breadth first, every interleaving
// of the clients' commands, every placement of the faults, every way of a random option. What it
// visits is the world of package sim, the same that runs scenarios; there is no second model.
//
// It is fast for one reason. A state falls into parts: what is everybody's, and one part for each
// client. There are few parts and very many ways to put them together. So each part is stored once and
// known by a number, a state is a handful of numbers, and what an action does is worked out in the
// world once for each combination of what it can depend on, and looked up from then on
// ([sim.System.Independent] says what that is). The fingerprint of a state is the sum of its parts'
// fingerprints, so that it costs next to nothing, and so that states in which clients of one workload
// have changed places have the same: symmetry comes for free.
//
// [Run] visits; what it remembers of a state is a matter of [Storage], and where it is interrupted it can
// go on from a checkpoint. It also tells whether executions can go on for ever ([Cycles]). [Walk] takes
// random executions where there are too many to visit.
//
//	search.go, moves.go, batch.go  what is asked for, and the workers that visit states
//	internal/states              the parts of states, and how they are written to files
//	visible.go, memo.go          what others may see of a client, and what was worked out
//	visited.go, exact.go, bits.go  the states seen, by the ways of storage.go
//	reductions.go                which executions are left out, as their steps are independent
//	counterexample.go            a shortest execution to a violation
//	cycles.go, fair_cycle.go     whether executions can go on for ever, on the graph of stategraph.go
//	checkpoint.go, resume.go, saved_states.go   leaving a search and going on with it; the format stands in checkpoint.go
//	walk.go, walker.go           random executions
//	anynumber                    the search for any number of clients
package search
