// Package gated judges clients of other people, in processes of their own or in this one: their commands wait at the gate until
// the schedule lets them through to the simulated server, or to a real one behind it. [Prove] runs drawn scenarios (run.go,
// crew.go, worker.go), [Explore] every order of one scenario's commands (explore.go), and [Replay] a counterexample.
//
// What an execution violates is a suspicion until fresh clients have shown it again (finding.go); then it is made smaller
// (shrink.go). The clients are driven by package adapters/external; what is here is whole runs of them and their reports.
package gated
