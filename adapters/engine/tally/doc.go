// Package tally counts, over many executions: which properties were tested and violated, what operations cost, how long stale
// beliefs lasted. Tallies of disjoint scenarios add up to the same in any order, and are written and read as JSON.
package tally
