// Package execution records one execution, of the simulated world or of external clients behind the gate.
//
//	record.go    its history, its steps, and its violations with their steps
//	workload.go  the next operation of a client
//
// Package history numbers the clients in a history, scenario.Plan chooses the next step, and package monitor judges.
package execution
