// Package shrink minimises a scenario that violates a property. It removes clients, operations, faults and steps as
// long as an execution of the remaining scenario still violates the property. The caller supplies the function that
// executes a scenario, either in the simulation or with external clients.
package shrink
