package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/model/scenario"
)

// StateGraph is a state space as a graph: states, and the actions that lead from one state to another.
type StateGraph struct {
	Nodes []StateNode `json:"nodes"`
	Edges []StateEdge `json:"-"`
	Cut   bool        `json:"-"` // the graph has only the first states of a larger space
}

// StateNode is a state. The first state has no parent. Every other state was first reached from its parent, by Action.
type StateNode struct {
	Parent int             `json:"parent"`
	Depth  int             `json:"-"`
	Action scenario.Action `json:"action"`
	Broken bool            `json:"-"` // a property is violated in the state
}

// StateEdge is an action that leads from one state to another. States are given by their index in Nodes.
type StateEdge struct {
	From, To int
	Action   scenario.Action
}

// says gives the numbers of states and of steps between them, in words.
func (g *StateGraph) says() string {
	more := ""
	if g.Cut {
		more = ", the first of more"
	}
	return fmt.Sprintf("the state space: %d states%s, %d steps between them", len(g.Nodes), more, len(g.Edges))
}

// The dimensions of a picture of the graph, in pixels. The picture has a row of states for each depth.
const (
	stateApart = 14
	rowApart   = 30
	stateEdge  = 20
)

// places are the positions of the states in a picture, and the picture's size, in pixels.
func (g *StateGraph) places() (places [][2]int, width, height int) {
	var rows [][]int
	for i, n := range g.Nodes {
		for len(rows) <= n.Depth {
			rows = append(rows, nil)
		}
		rows[n.Depth] = append(rows[n.Depth], i)
	}
	for _, row := range rows {
		width = max(width, stateApart*len(row)+2*stateEdge)
	}
	places = make([][2]int, len(g.Nodes))
	for depth, row := range rows {
		for k, i := range row {
			places[i] = [2]int{width/2 + stateApart*(2*k-len(row)+1)/2, stateEdge + depth*rowApart}
		}
	}
	return places, width, len(rows)*rowApart + stateEdge
}

// SVG draws the graph. Each dot is a state, and the first state is at the top. A state's row is its distance from the
// first state, in steps.
func (g *StateGraph) SVG() string {
	places, width, height := g.places()
	left := g.leaves()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" role="group" aria-label="%s">`, width, height, g.says())
	for _, e := range g.Edges {
		from, to := places[e.From], places[e.To]
		fmt.Fprintf(&b, `<line class="edge" x1="%d" y1="%d" x2="%d" y2="%d"/>`, from[0], from[1], to[0], to[1])
	}
	for i, n := range g.Nodes {
		class, violated, stop := "state", "", -1
		switch {
		case n.Broken:
			class, violated = "state broken", ", violated"
		case i == 0:
			class = "state first"
		case !left[i] && !g.Cut:
			class = "state final"
		}
		if i == 0 {
			stop = 0
		}
		fmt.Fprintf(&b, `<circle class="%s" cx="%d" cy="%d" r="5" tabindex="%d" role="button" aria-label="state %d, after %d steps%s"/>`,
			class, places[i][0], places[i][1], stop, i+1, n.Depth, violated)
	}
	b.WriteString("</svg>")
	return b.String()
}

// graphStyle is the style sheet of a picture that is not part of a page.
const graphStyle = `<style>svg { background: #fdfdfb } .edge { stroke: #5c626c; stroke-width: .6; opacity: .5 } .state { fill: #0b7285 } .broken { fill: #c92a2a } .first { stroke: #1a1d21; stroke-width: 2 } .final { fill: #fdfdfb; stroke: #0b7285; stroke-width: 1.5 } text { font: 12px sans-serif; fill: #1a1d21 }</style>`

// WriteGraphSVG writes the picture as a file.
func WriteGraphSVG(w io.Writer, g *StateGraph) error {
	svg := g.SVG()
	_, width, height := g.places()
	head, body := strings.IndexByte(svg, '>')+1, strings.TrimSuffix(svg, "</svg>")
	opening := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" role="group" aria-label="%s">`, max(width, legendWidth), height+legendHeight, g.says())
	_, err := fmt.Fprintf(safetext.NewWriter(w), "<!-- lockproof: %s -->\n%s%s%s%s</svg>\n", g.says(), opening, graphStyle, body[head:], g.legend(height))
	return err
}

// The dimensions of the legend below a picture, in pixels.
const (
	legendWidth  = 560
	legendHeight = 44
)

// legend explains the dots of a picture that is not part of a page. A final state has no further steps.
func (g *StateGraph) legend(y int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`, stateEdge, y+10, g.says())
	for i, entry := range []struct{ class, says string }{{"state first", "first state"}, {"state", "state"}, {"state broken", "violated"}, {"state final", "final: no step leaves it"}} {
		x := stateEdge + i*110
		fmt.Fprintf(&b, `<circle class="%s" cx="%d" cy="%d" r="5"/><text x="%d" y="%d">%s</text>`, entry.class, x+5, y+28, x+16, y+32, entry.says)
	}
	return b.String()
}

// leaves reports, for each state, whether some action leads from it to another state.
func (g *StateGraph) leaves() []bool {
	left := make([]bool, len(g.Nodes))
	for _, e := range g.Edges {
		left[e.From] = true
	}
	return left
}

// WriteDOT writes the graph in the language of Graphviz: a node for each state, and an edge for each action.
func WriteDOT(w io.Writer, g *StateGraph) error {
	var b strings.Builder
	fmt.Fprintf(&b, "// lockproof: %s\ndigraph states {\n\tnode [shape=circle, label=\"\", width=.15, style=filled, fillcolor=\"#0b7285\"];\n", g.says())
	for i, n := range g.Nodes {
		if n.Broken {
			fmt.Fprintf(&b, "\ts%d [fillcolor=\"#c92a2a\", tooltip=\"violated\"];\n", i)
		}
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "\ts%d -> s%d [label=%q];\n", e.From, e.To, e.Action.String())
	}
	b.WriteString("}\n")
	_, err := io.WriteString(safetext.NewWriter(w), b.String())
	return err
}
