// Package property names the requirements of a correct and cheap lock. Each property has a sentence, the passage of the
// guidelines or the specification that states it, and the kind of evidence by which it is judged. The package also has
// sets of properties, and violations.
//
// Packages monitor, linear and beliefs judge the properties. Package judge combines them; its doc.go says which package
// judges which property, and by which evidence.
//
// To add a property, give it a name and a sentence in property.go, a rank in severity.go, and the locks that it applies
// to in applicable.go. Judge it in package monitor, where monitor_code.go lists the fields that it needs, or in package
// beliefs if it is judged by the history alone. Add a mutant that violates it. Add its public name to property.go of
// the module's root, and a row to README.md here. Further texts for reports are in histories/draw: decision.go,
// cause.go and expected.go.
//
// An external client violates no-crash if it panics, exits or throws. Its runner sees this and tells the monitor.
package property
