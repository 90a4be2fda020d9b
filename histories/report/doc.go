// Package report shows the result of a run. It writes a [Report] as a card (card*.go), as JSON (reportjson.go), as
// JUnit's XML (junit.go), as SARIF (sarif.go), as Markdown for a job's summary (summary.go), as GitHub's annotations
// (annotations.go), or as an HTML page with executions (html*.go). The folder page has the templates, styles and scripts
// of the HTML pages. An [Atlas], a [Sweep] and a [Comparison] are tables of many runs; their files begin with their names.
package report
