// Package own has properties that users of this module write in Go: each a name and a function that looks at an execution
// after each of its steps.
//
// In a [property.Set] they are numbered after the module's own, from [property.Count] on, in the order of a [List],
// which is handed along to whoever runs executions; nothing is global. Where a list is empty nothing is done at a step.
//
// An execution has a state, a past and a last exchange. A search that merges states of equal codes knows the state
// alone: a [View] of it has no past, and a property that asks for one is not judged there (see [Property.Asked]). Every
// state's code contains all that a View shows of the state: the server's truth of the locks, and of each client what it
// believes, what it calls and whether it is alive and connected. With such properties a search uses no reduction.
package own
