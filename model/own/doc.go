// Package own has custom properties, which users of this module write in Go. Each is a name and a function that looks
// at an execution after each of its steps.
//
// A [property.Set] numbers them after the built-in properties, from [property.Count] on, in the order of a [List].
// Every runner gets the list as an argument; nothing is global. An empty list costs nothing at a step.
//
// An execution has a state, a past and a last exchange. A search knows only states, since it merges equal ones: its
// [View] has no past, and a property that asks for one is not judged there (see [Property.Asked]). Each state's code
// contains the whole View of the state: the server's state of the locks, and for each client its belief, its current
// call, and whether it is alive and connected. With custom properties a search uses no reduction.
package own
