// Package gated judges external clients, in processes of their own or in this one. Their commands wait at the gate until
// the schedule lets them through to the simulated server, or to a real one behind it. Drawn scenarios are run by [Prove]
// (run.go, pool.go, worker.go), every order of one scenario's commands by [Explore] (explore.go), and a counterexample by
// [Replay].
//
// A violation is a suspicion until fresh clients have shown it again (finding.go); then its execution is made smaller
// (shrink.go). The clients are driven by package adapters/foreign; what is here is whole runs of them and their reports.
package gated
