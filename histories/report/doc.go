// Package report shows the result of a run: a [Report] is printed as a card (card*.go), as JSON (reportjson.go), as
// JUnit's XML or, with its executions, as a page (html*.go, folder page). An [Atlas], a [Sweep] and a [Comparison]
// are tables of many runs; the files of each are named after it.
package report
