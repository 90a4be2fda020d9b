// Package gated judges external clients, which run in processes of their own or in this one. Their commands wait at the
// gate. The schedule decides which command goes on to the server: the simulated one, or a real one behind the gate.
// [Prove] runs drawn scenarios (run.go, pool.go, worker.go), [Explore] runs every order of one scenario's commands
// (explore.go), and [Replay] repeats a counterexample.
//
// A violation is a suspicion until fresh clients have reproduced it (finding.go). Then its execution is minimised
// (shrink.go). Package adapters/foreign drives the clients; this package does whole runs and their reports.
package gated
