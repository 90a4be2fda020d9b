// Package shrink makes a scenario smaller that violates a property: it removes clients, operations, faults and steps
// as long as a run of the remaining scenario still violates the property. The caller supplies the run, either in the
// simulated world or with external clients.
package shrink
