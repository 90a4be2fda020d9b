// Package property names the requirements of a correct and cheap lock. Each property has a sentence, the passage of
// the guidelines or specification that states it, and the kind of evidence that it is judged from. The package also
// has sets of properties, and violations.
//
// The package does not judge. Packages monitor, linear and beliefs do. Package judge composes them; its doc.go says
// which package judges which property, and from what evidence.
//
// To add a property, give it a name and sentence in property.go, a rank in severity.go, and its locks in
// applicable.go. Judge it in package monitor, where monitor_code.go lists the fields that it needs, or in package
// beliefs if the history alone is known. A mutant has to violate it. property.go of the module's root has its public
// name, and README.md here its row. Its further texts in reports are in histories/draw: decision.go, cause.go and
// expected.go.
//
// no-crash is violated by an external client that panics, exits or throws: its runner sees this and tells the
// monitor.
package property
