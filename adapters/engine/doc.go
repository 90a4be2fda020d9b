// Package engine is the common part of all runs; each kind of run is a package in its folder. A run returns one
// [Result], with a report, counterexamples as files, and a page; [Replay] repeats a counterexample.
//
// It is the layer between the public API, which is the module's root package, and specialised packages: the simulated
// world (sim), external clients (adapters/foreign) and reports (histories). The command line uses it as well, for
// features that the API leaves out. It is unstable: any version may change it.
//
// The folders:
//
//	sample     runs of drawn scenarios with the locks of this module, whole or in parts, and with the mutants
//	explore    every execution of a configuration of such a lock, or of any number of clients
//	gated      drawn runs, every execution, and replay, all with external clients, whose commands wait at the gate
//	kept       repeats the counterexamples that earlier runs have left in a folder
//	stock      repeats a finding on stock servers, without a gate and with the machine's clock
//	libraries  judges the published libraries of a catalogue, and makes a table
//	recorded   judges recorded histories, and those of stress on a real server
//	clustered  locks that are held on real clusters while faults befall their machines
//	doctor     asks a RabbitMQ for its settings, and says which rows of the table of clusters apply to it
//	compare    all locks side by side
//	atlas      the answers to the guidelines' open questions
//	served     the explorer as a page that a program serves
//	tally      the summed results of a number of executions
//
// The package itself has the configuration that runs share (config.go), result.go, counterexample.go and page.go; the
// rows that reports share (report.go, wire.go); the time limits of a run (allowance.go); the known targets, backends and
// findings (targets.go, backends.go, known.go); errors of configurations (errors.go); the version (version.go). The
// example targets in testdata, which the tests of these packages share, are in internal/enginetest.
package engine
