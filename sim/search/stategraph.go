package search

import (
	"context"
	"slices"

	"github.com/lockproof/lockproof/model/scenario"
)

// stateGraph is the graph of states and moves. It is built without reductions, since fairness depends on which client
// acts and which one waits. It is built only if a cycle is possible.
type stateGraph struct {
	*worker
	graph
	states []uint32 // stride numbers for each state, in breadth-first order
	parent []uint32 // indexed by state: the state from which it was first reached
	index  []uint32 // a hash table from states to their numbers plus 1, at most half full
	steps  []taken  // scratch
}

// taken is a move from a state: its action and its successor.
type taken struct {
	action scenario.Action
	to     tuple
}

// newStateGraph visits all states and returns their graph. It returns false if the graph takes more than the given
// memory (0 is no bound), or ctx ends.
func newStateGraph(ctx context.Context, p *plan, memory int64) (*stateGraph, bool) {
	g := &stateGraph{worker: p.worker(), index: make([]uint32, 1<<12)}
	g.number(g.initial(), 0)
	for n := uint32(0); int(n) < g.count(); n++ {
		g.first = append(g.first, len(g.to))
		for _, s := range g.moves(n) {
			g.to = append(g.to, g.number(s.to[:g.stride], n))
		}
		if n%1024 == 0 && (ctx.Err() != nil || memory > 0 && g.size() > memory) {
			return nil, false
		}
	}
	g.first = append(g.first, len(g.to))
	return g, true
}

func (g *stateGraph) count() int { return len(g.states) / g.stride }

// size estimates the bytes that the graph and the search for its components take.
func (g *stateGraph) size() int64 {
	return int64(4*(cap(g.states)+cap(g.parent)+cap(g.index)+cap(g.to))+8*cap(g.first)) + int64(40*g.count())
}

func (g *stateGraph) state(n uint32) []uint32 { return g.states[int(n)*g.stride:][:g.stride] }

// number returns the number of state t. If t is new, number adds it, with the state with number from as its parent.
func (g *stateGraph) number(t []uint32, from uint32) uint32 {
	if 2*g.count() >= len(g.index) {
		g.index = make([]uint32, 2*len(g.index))
		for n := range uint32(g.count()) {
			g.index[g.find(g.state(n))] = n + 1
		}
	}
	at := g.find(t)
	if g.index[at] == 0 {
		g.states = append(g.states, t...)
		g.parent = append(g.parent, from)
		g.index[at] = uint32(g.count())
	}
	return g.index[at] - 1
}

// find returns the position of state t in the index; if t is not there, the free position for it.
func (g *stateGraph) find(t []uint32) int {
	at := int(hashTuple(t)) & (len(g.index) - 1)
	for g.index[at] != 0 && !slices.Equal(g.state(g.index[at]-1), t) {
		at = (at + 1) & (len(g.index) - 1)
	}
	return at
}

// moves returns all moves from a state, always in the same order. The next call overwrites them.
func (g *stateGraph) moves(n uint32) []taken {
	var t tuple
	copy(t[:], g.state(n))
	state := t[:g.stride]
	g.steps = g.steps[:0]
	for c := range g.stride {
		switch {
		case c > 0 && g.alone:
			g.lookedUp(state, c)
		case g.global || !g.alone:
			g.carriedOut(state, c)
		}
	}
	return g.steps
}

func (g *stateGraph) lookedUp(t []uint32, c int) {
	moves := g.of(t, c)
	for i := range moves {
		s := taken{action: moves[i].action}
		s.action.Client = uint8(c)
		g.apply(s.to[:g.stride], t, c, &moves[i])
		g.steps = append(g.steps, s)
	}
}

func (g *stateGraph) carriedOut(t []uint32, c int) {
	g.enter(t)
	acts := g.sys.Actions(c, nil)
	g.keep(len(acts))
	for i, a := range acts {
		if i > 0 {
			g.enterAgain(t)
		}
		s := taken{action: a}
		g.step(a)
		copy(s.to[:], t)
		g.readAfter(s.to[:g.stride], t)
		g.steps = append(g.steps, s)
	}
}
