package main

import (
	"path"
	"strings"
)

// areas are the parts of lockproof that bugs are injected into: those that a verdict depends on. The
// first one that has a file counts.
var areas = []struct {
	name  string
	files []string // patterns of path.Match, from the module's root
}{
	{"broker", []string{"sim/amqp/broker/*"}},
	{"monitor", []string{"model/monitor/*", "model/property/*"}},
	{"checker", []string{"model/linear/*", "model/beliefs/*", "model/history/*"}},
	{"search", []string{"sim/search/*", "sim/search/anynumber/*", "sim/search/states/*", "sim/system.go", "sim/footprint.go", "sim/image.go", "sim/bounds.go"}},
	{"readers", []string{
		"histories/jsonl.go", "histories/scanner.go", "histories/draft.go", "histories/edn.go", "histories/ednform.go",
		"histories/vocabulary.go", "histories/document.go", "histories/counterexample.go", "histories/history.go", "histories/check.go",
	}},
	{"minimiser", []string{"sim/shrink/*"}},
	{"reports", []string{"histories/*", "histories/draw/*", "histories/report/*", "histories/style/*"}},
}

// areaOf is the area of a file, or "".
func areaOf(file string) string {
	if strings.HasSuffix(file, "_test.go") {
		return ""
	}
	for _, a := range areas {
		for _, pattern := range a.files {
			if ok, _ := path.Match(pattern, file); ok {
				return a.name
			}
		}
	}
	return ""
}
