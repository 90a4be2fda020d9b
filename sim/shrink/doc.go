// Package shrink makes a scenario that violates a property smaller: it removes clients, operations, faults and steps
// as long as a run of the rest still violates the property. The caller runs it: in the simulated world, or with
// external clients.
package shrink
