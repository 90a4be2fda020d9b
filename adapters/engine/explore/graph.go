package explore

import (
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// graphStates is the maximum number of states that a page shows.
const graphStates = 1500

// Graph returns the state space of an exploration for a page, at most graphStates states of it. It visits states
// breadth first, without reductions. start is the initial state in the form of a counterexample file. For any number of
// clients, graph is nil and start is "".
func (e *Exploration) Graph() (graph *report.StateGraph, start string, err error) {
	if e.Clients == AnyNumber || e.Admins == AnyNumber {
		return nil, "", nil
	}
	b, err := e.Bounds()
	if err != nil {
		return nil, "", err
	}
	if start, err = engine.NewExecution(b.Target, b.Scenario()); err != nil {
		return nil, "", err
	}
	w := grapher{system: sim.NewSystem(b), known: make(map[string]int), graph: new(report.StateGraph)}
	w.add(-1, scenario.Action{}, false)
	for at := 0; at < len(w.states); at++ {
		w.expand(at)
	}
	return w.graph, start, nil
}

// grapher builds the graph of states.
type grapher struct {
	system *sim.System
	states []image
	known  map[string]int
	graph  *report.StateGraph
}

// image is an encoded state of the simulated system.
type image struct {
	shared  []byte
	clients [][]byte
}

// add adds the current state to the graph, and returns its number. It returns -1 if the graph is full.
func (w *grapher) add(parent int, a scenario.Action, broken bool) int {
	s := image{shared: w.system.Shared(nil)}
	key := string(s.shared)
	for c := 1; c <= w.system.Clients(); c++ {
		part := w.system.Client(c, nil)
		s.clients = append(s.clients, part)
		key += "\x00" + string(part)
	}
	if broken { // another path may lead to the same state without a violation
		key += "\x00broken"
	}
	if at, ok := w.known[key]; ok {
		return at
	}
	if len(w.states) == graphStates {
		w.graph.Cut = true
		return -1
	}
	n := report.StateNode{Parent: parent, Action: a, Broken: broken}
	if parent >= 0 {
		n.Depth = w.graph.Nodes[parent].Depth + 1
	}
	w.known[key] = len(w.states)
	w.states = append(w.states, s)
	w.graph.Nodes = append(w.graph.Nodes, n)
	return len(w.states) - 1
}

// expand adds the successors of a state, unless the state violates a property.
func (w *grapher) expand(at int) {
	if w.graph.Nodes[at].Broken {
		return
	}
	load := func() { w.system.Load(w.states[at].shared, w.states[at].clients) }
	load()
	var actions []scenario.Action
	for c := 0; c <= w.system.Clients(); c++ {
		actions = w.system.Actions(c, actions)
	}
	for _, a := range actions {
		load()
		out := w.system.Take(a)
		if to := w.add(at, a, out.Found != 0); to >= 0 && to != at {
			w.graph.Edges = append(w.graph.Edges, report.StateEdge{From: at, To: to, Action: a})
		}
	}
}

// AddGraph adds the graph of states to the result, for the explorer on its page.
func (x *Explored) AddGraph(e *Exploration) error {
	graph, start, err := e.Graph()
	if graph != nil {
		x.Explorer = &report.Explorer{Start: start, Graph: graph}
	}
	return err
}
