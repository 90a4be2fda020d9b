// Package own has custom properties, which users of this module write in Go. A custom property is a name and a function
// that looks at an execution after each of its steps.
//
// In a [property.Set], custom properties are numbered after the built-in ones, from [property.Count] on, in the order
// of a [List]. Every runner gets the list as an argument; there is no global list. An empty list costs nothing.
//
// An execution has a present state, a history and a last exchange. A search knows only states, since it merges equal
// ones. Its [View] therefore has no past, and a property that uses the past is not judged there (see [Property.Asked]).
// A state's code contains everything in the View: the server's state of the locks and, for each client, its belief, its
// current call, and whether it is alive and connected. With custom properties, a search uses no reductions.
package own
