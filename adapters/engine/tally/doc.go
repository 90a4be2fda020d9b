// Package tally counts what a number of executions came to: what they put to the test and violated, what operations cost, how long
// stale beliefs lasted. Tallies of disjoint scenarios add up to the same in any order, and are written and read as JSON.
package tally
