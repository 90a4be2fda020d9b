// Package sample runs drawn scenarios with locks of this module on their simulated servers, judges every execution, and makes
// the first that violates a property as small as it gets. Several processes may share a run: each runs a [Part] of its
// scenarios, and [Conclude] makes one result of them. A mutant's run ends when it is found out (mutants.go).
//
// The scenarios are those of sim.Source; what they came to is counted by package tally.
package sample
