// Package shrink makes a scenario that violates a property smaller: it leaves out clients, operations, faults and steps
// as long as a run of what is left still violates it. Who runs it is the caller's: the simulated world, or external
// clients.
package shrink
