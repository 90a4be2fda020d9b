// Package execution records one execution. Its clients are simulated, or external clients behind the gate, which
// controls the order of their commands.
//
//	record.go    the execution's history, its steps, and its violations with their steps
//	workload.go  which operation of its workload a client calls next
//
// Package history numbers a history's clients, scenario.Plan chooses the next step, and package monitor judges.
package execution
