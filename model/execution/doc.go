// Package execution records one execution, be it of the simulated world or of external clients behind the gate.
//
//	record.go    its history, its steps, the violations seen, and at which step each was
//	workload.go  which operation a client calls next
//
// Package history numbers the clients in a history, scenario.Plan chooses the next step, and package monitor judges.
package execution
