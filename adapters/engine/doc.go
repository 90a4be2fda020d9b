// Package engine carries out whole runs and reports them: samples, explorations, stress, replays, checks of recorded
// histories, and runs in parts. In its folders are what does more with those: atlas answers the open questions.
//
// It is the layer between the public API, which is the module's root package, and the packages that each do one thing:
// the simulated world (sim), clients of other people (adapters/external) and reports (histories). The command line uses
// it as well, for what the API leaves out. It is unstable: any version may change it.
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
