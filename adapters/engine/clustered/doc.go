// Package clustered makes clients hold locks on a real cluster during faults of its machines, and judges what the
// clients observed.
//
//	cluster.go   the cluster
//	run.go       a run: several locks at once, during one sequence of faults
//	trial.go     one lock of a run, with its clients and their nodes
//	measure.go   how long two clients held the lock, how they learned that a hold was over, and the tokens left
//	table.go     measures designs, modes and faults for a table
package clustered
