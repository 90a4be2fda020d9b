// Package execution keeps the books of one execution, whoever's clients carry it out: those of the simulated world, and
// external ones behind the gate.
//
//	record.go    its history, its steps, the violations seen, and at which step each was
//	workload.go  which operation a client calls next
//
// How a client is numbered in a history stands in package history, which choices make the next step in package scenario
// (Plan), what is judged in package monitor.
package execution
