package report

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/scenario"
)

// TestStateGraph: the picture and the Graphviz file have every state and step, and mark the states with a violation.
func TestStateGraph(t *testing.T) {
	g := &StateGraph{
		Nodes: []StateNode{{Parent: -1}, {Depth: 1}, {Depth: 1, Broken: true}, {Parent: 1, Depth: 2}},
		Edges: []StateEdge{{0, 1, scenario.Action{Kind: scenario.Step, Client: 1}}, {0, 2, scenario.Action{Kind: scenario.Step, Client: 2}}, {1, 3, scenario.Action{Kind: scenario.Restart}}}, Cut: true,
	}
	var svg, dot strings.Builder
	if err := errors.Join(WriteGraphSVG(&svg, g), WriteDOT(&dot, g)); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(svg.String()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for text, times := range map[string]int{"<circle": 8, "<line": 3, `"state broken"`: 2, "4 states, the first of more": 3, ">first state<": 1, ">violated<": 1} {
		if n := strings.Count(svg.String(), text); n != times {
			t.Errorf("the picture has %s %d times, expected %d:\n%s", text, n, times, &svg)
		}
	}
	for text, times := range map[string]int{" -> ": 3, `s0 -> s1 [label="step c1"]`: 1, `s1 -> s3 [label="restart"]`: 1, "violated": 1} {
		if n := strings.Count(dot.String(), text); n != times {
			t.Errorf("Graphviz' file has %s %d times, expected %d:\n%s", text, n, times, &dot)
		}
	}
}
