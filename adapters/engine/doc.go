// Package engine is the common part of all runs; each kind of run is a package in its folder. A run returns one
// [Result], with a report, counterexamples as files, and a page. [Replay] repeats a counterexample.
//
// The package connects the public API, which is the module's root package, with specialised packages: the simulated
// world (sim), external clients (adapters/foreign) and reports (histories). The command line uses it as well, for
// features that the API leaves out. It is unstable: any version may change it.
//
// The folders:
//
//	sample     runs of drawn scenarios with the locks of this module, whole or in parts, and with the mutants
//	explore    every execution of a configuration of such a lock, or of any number of clients
//	gated      drawn runs, every execution, and replay, all with external clients, whose commands wait at the gate
//	recorded   recorded histories, and those of stress on a real server
//	clustered  locks that are held on real clusters during faults of their machines
//	compare    a comparison of all locks
//	atlas      the answers to the guidelines' open questions
//	served     the explorer as a page that a program serves
//	tally      the summed results of a number of executions
//
// The package itself has results (result.go, counterexample.go, page.go), the rows that reports share (report.go,
// wire.go), the time limits of a run (allowance.go), the known targets and backends (targets.go, backends.go), and the
// version.
package engine
