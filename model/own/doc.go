// Package own has custom properties, which users of this module write in Go: each is a name and a function that looks
// at an execution after each of its steps.
//
// In a [property.Set] they are numbered after the module's own, from [property.Count] on, in the order of a [List].
// The list is an argument of every runner; nothing is global. An empty list costs nothing at a step.
//
// An execution has a state, a past and a last exchange. A search merges states of equal codes, so it knows the state
// alone: its [View] has no past, and a property that asks for one is not judged there (see [Property.Asked]). Every
// state's code contains the whole View of the state: the server's state of the locks, and for each client its belief,
// its call, and whether it is alive and connected. With custom properties a search uses no reduction.
package own
