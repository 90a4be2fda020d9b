// Package tally counts, over many executions, which properties were tested and violated, the cost of operations, and
// the duration of stale beliefs. Tallies of disjoint scenarios can be merged in any order, with the same result. They
// are stored as JSON.
package tally
