// Package property names what a correct and cheap lock has to satisfy: each property with its sentence, the passage it
// comes from and the evidence it rests on, sets of them, and a violation of one.
//
// It judges nothing. Packages monitor, linear and beliefs do; package judge composes them, and its doc.go says which of them
// judges which property, and from what.
//
// To add a property: its name and sentence in property.go, its rank in severity.go, which locks have it in applicable.go;
// then it is judged in package monitor, where monitor_code.go says what it needs, or, where the history alone is known, in
// package beliefs; and a mutant breaks it. property.go of the module's root has its public name, README.md here its row.
// What a page says of it beside its sentence is in histories/draw: decision.go, cause.go and expected.go.
//
// no-crash is an external client that panics, exits or throws: its runner sees it and tells the monitor.
package property
