// Package tally counts, over many executions, which properties were tested and violated, the cost of operations, and the
// duration of stale beliefs. Tallies of disjoint scenarios add up to the same in any order, and are stored as JSON.
package tally
