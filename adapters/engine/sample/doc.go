// Package sample runs drawn scenarios with locks of this module on their simulated servers, judges every execution, and
// minimises the first execution that violates each property. Several processes may share a run: each runs a [Part] of
// its scenarios, and [Conclude] turns the parts into one result. A mutant's run ends when its bug is found
// (mutants.go).
//
// sim.Source draws the scenarios. Package tally counts their results.
package sample
