// Package engine carries out whole runs and reports them: samples, explorations, stress, replays, checks of recorded
// histories, and runs in parts. What does more with those is in its folders: atlas answers the open questions.
//
// It is the layer between the public API, which is the module's root package, and the packages that each do one thing:
// the simulated world (sim), clients of other people (adapters/external) and reports (histories). The command line uses
// it as well, for what the API leaves out. It is unstable: any version may change it.
//
// What is here shares one result: what a run found, kept while it runs, merged from parts, made shorter, written as a
// report and as counterexamples. Runs differ in where their executions come from.
//
// Where things are:
//
//	prove.go sample.go shrink.go report.go    runs of drawn scenarios with the locks of this module
//	explore*.go space.go                      visits of every execution of a configuration
//	external*.go                              the same with external clients
//	part.go external_part.go                  runs that several processes share
//	stress.go check.go counterexample.go      stress on a server, recorded histories, replays
//	mutants.go targets.go                     the mutants, the targets by name
package engine
