package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockproof/lockproof/histories/safetext"
	"github.com/lockproof/lockproof/model/scenario"
)

// StateGraph is states, and the actions that lead from one to another.
type StateGraph struct {
	Nodes []StateNode `json:"nodes"`
	Edges []StateEdge `json:"-"`
	Cut   bool        `json:"-"` // there are more states
}

// StateNode is a state: the first has no parent, and others are reached from theirs by an action first.
type StateNode struct {
	Parent int             `json:"parent"`
	Depth  int             `json:"-"`
	Action scenario.Action `json:"action"`
	Broken bool            `json:"-"` // something is violated in it
}

// StateEdge is an action that leads from a state to another, by their numbers.
type StateEdge struct {
	From, To int
	Action   scenario.Action
}

// says is how large it is, in words.
func (g *StateGraph) says() string {
	more := ""
	if g.Cut {
		more = ", the first of more"
	}
	return fmt.Sprintf("the state space: %d states%s, %d steps between them", len(g.Nodes), more, len(g.Edges))
}

// The measures of a picture: a row for each depth.
const (
	stateApart = 14
	rowApart   = 30
	stateEdge  = 20
)

// places are where states stand in a picture, and its size.
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

// SVG is a picture of it: a dot is a state, the first at the top, with as many steps before it as rows above it.
func (g *StateGraph) SVG() string {
	places, width, height := g.places()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" role="group" aria-label="%s">`, width, height, g.says())
	for _, e := range g.Edges {
		from, to := places[e.From], places[e.To]
		fmt.Fprintf(&b, `<line class="edge" x1="%d" y1="%d" x2="%d" y2="%d"/>`, from[0], from[1], to[0], to[1])
	}
	for i, n := range g.Nodes {
		class, violated, stop := "state", "", -1
		if n.Broken {
			class, violated = "state broken", ", violated"
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

// graphStyle is how a picture looks that stands alone.
const graphStyle = `<style>svg { background: #fdfdfb } .edge { stroke: #5c626c; stroke-width: .6; opacity: .5 } .state { fill: #0b7285 } .broken { fill: #c92a2a }</style>`

// WriteGraphSVG writes the picture as a file.
func WriteGraphSVG(w io.Writer, g *StateGraph) error {
	svg := g.SVG()
	head := strings.IndexByte(svg, '>') + 1
	_, err := fmt.Fprintf(safetext.NewWriter(w), "<!-- lockproof: %s -->\n%s%s%s\n", g.says(), svg[:head], graphStyle, svg[head:])
	return err
}

// WriteDOT writes it in Graphviz' language: a node for each state, and an edge with the action that leads on.
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
