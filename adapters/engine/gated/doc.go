// Package gated judges external clients, in processes of their own or in this one. Their commands wait at the gate until the
// schedule lets them through to the simulated server, or to a real one behind the gate. [Prove] runs drawn scenarios
// (run.go, pool.go, worker.go), [Explore] runs every order of one scenario's commands (explore.go), and [Replay] repeats a
// counterexample.
//
// A violation is a suspicion until fresh clients have reproduced it (finding.go); then its execution is minimised
// (shrink.go). Package adapters/foreign drives the clients; this package does whole runs and their reports.
package gated
