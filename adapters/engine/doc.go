// Package engine is what all runs have in common, and each kind of run is a package in its folder: a run tells what it found
// as one [Result], with a report, counterexamples as files, and a page; a counterexample is carried out again by [Replay].
//
// It is the layer between the public API, which is the module's root package, and the packages that each do one thing:
// the simulated world (sim), clients of other people (adapters/external) and reports (histories). The command line uses
// it as well, for what the API leaves out. It is unstable: any version may change it.
//
// Where things are:
//
//	sample     runs of drawn scenarios with the locks of this module, whole or in parts, and with the mutants
//	explore    every execution of a configuration of such a lock, or of any number of clients
//	gated      drawn runs, every execution, and replay, all with clients of other people, whose commands wait at the gate
//	recorded   recorded histories, and those that stress on a real server leaves
//	compare    all locks side by side
//	atlas      the answers to the guidelines' open questions
//	tally      what a number of executions came to, added up
//	enginetest the example targets in testdata, for the tests of these packages
//
// Here are result.go, counterexample.go and page.go; the rows that reports share (report.go, wire.go); the time that a run
// may take (allowance.go); the targets and the backends that there are (targets.go, backends.go); the version.
package engine
