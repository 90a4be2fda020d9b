package report

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Explorer is the interactive explorer of a page. In it the reader steps through executions, and chooses other actions
// of the same clients.
type Explorer struct {
	Wasm    []byte // WebAssembly program, gzipped
	Runtime []byte // JavaScript that runs the program
	Served  bool   // the page asks the program that serves it, instead of running Wasm
	// Start is a counterexample with which the explorer can begin besides the page's executions; see [Execution.File].
	// "" means none.
	Start string
	// Graph is the state space from the beginning of Start; nil if it is not shown.
	Graph *StateGraph
}

// explorerStart is a counterexample with which the explorer can begin.
type explorerStart struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// html is the explorer's part of the page. Its texts are in scripts, escaped so that they cannot end the script.
func (e *Explorer) html(starts []explorerStart) (template.HTML, error) {
	if e.Start != "" {
		starts = append(starts, explorerStart{"a new execution", e.Start})
	}
	if len(starts) == 0 {
		return "", nil
	}
	data, err := json.Marshal(starts, json.Deterministic(true), jsontext.EscapeForHTML(true))
	if err != nil {
		return "", err
	}
	graph, err := json.Marshal(e.Graph, jsontext.EscapeForHTML(true))
	if err != nil {
		return "", err
	}
	space, says := "", ""
	if e.Graph != nil {
		space, says = e.Graph.SVG(), e.Graph.says()
	}
	var b strings.Builder
	for _, part := range []string{"page/explorer.html", "page/explorer.js"} {
		text, err := pageFiles.ReadFile(part)
		if err != nil {
			return "", err
		}
		if part == "page/explorer.js" {
			fmt.Fprintf(&b, "<script type=\"application/json\" id=\"lp-starts\">%s</script>\n", data)
			fmt.Fprintf(&b, "<script type=\"application/json\" id=\"lp-graph\">%s</script>\n", graph)
			if !e.Served {
				fmt.Fprintf(&b, "<script type=\"text/plain\" id=\"lp-wasm\">%s</script>\n", base64.StdEncoding.EncodeToString(e.Wasm))
			}
			fmt.Fprintf(&b, "<script>\n%s\n%s</script>\n", strings.ReplaceAll(string(e.Runtime), "</script", `<\/script`), text)
			continue
		}
		b.WriteString(strings.NewReplacer("{{space}}", space, "{{spacesays}}", says).Replace(string(text)))
	}
	return template.HTML(b.String()), nil
}
