// Package report tells what a run came to: a [Report] is printed as a card, as JSON, as JUnit's XML or, with its
// executions, as a page. An [Atlas] and a [Sweep] are tables of many runs.
package report
