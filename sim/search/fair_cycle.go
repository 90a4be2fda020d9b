package search

import (
	"context"
	"slices"

	"github.com/lockproof/lockproof/model/scenario"
)

// fairCycle looks for a weakly fair cycle among the states: each client that can act in all states of the cycle acts in
// one of them. Faults need not happen in it. Their consequences must: the broker detects dead connections, and time
// passes.
func (p *plan) fairCycle(ctx context.Context, memory int64) (Cycles, *FairCycle) {
	g, ok := newStateGraph(ctx, p, memory)
	if !ok {
		return CyclesUnknown, nil
	}
	f := fairness{stateGraph: g}
	var cyclic []bool
	f.of, cyclic = g.components()
	f.judge(cyclic)
	for n := range uint32(g.count()) { // in breadth-first order, so the first state found is nearest to the initial one
		if f.fair[f.of[n]] {
			return FairCycles, &FairCycle{Prefix: f.path(n), Cycle: f.around(n)}
		}
	}
	if slices.Contains(cyclic, true) {
		return UnfairCycles, nil
	}
	return NoCycles, nil
}

// fairnessSet is a set of actors that a fair schedule must let act. Bit c stands for client c, bit 0 for the passing of
// time, and bit 16+c for the detection of client c's dead connection.
type fairnessSet uint32

func turn(a scenario.Action) fairnessSet {
	switch a.Kind {
	case scenario.Step, scenario.Choose, scenario.Advance:
		return 1 << a.Client
	case scenario.Detect:
		return 1 << (16 + a.Client)
	}
	return 0
}

// fairness finds the strongly connected components of the state graph that have a fair cycle. Components are numbered
// from 1.
type fairness struct {
	*stateGraph
	of   []uint32      // indexed by state: its component
	fair []bool        // indexed by component: it has a fair cycle
	can  []fairnessSet // indexed by state: the actors that can act in it; only for states of components with a cycle
}

// judge decides which components have a fair cycle. cyclic marks the components with any cycle. A component has a fair
// cycle if and only if the cycle along all of its edges is fair.
func (f *fairness) judge(cyclic []bool) {
	f.fair = append([]bool{false}, cyclic...)
	f.can = make([]fairnessSet, f.count())
	must, goes := make([]fairnessSet, len(f.fair)), make([]fairnessSet, len(f.fair))
	for i := range must {
		must[i] = ^fairnessSet(0)
	}
	for n := range uint32(f.count()) {
		c := f.of[n]
		if !f.fair[c] {
			continue
		}
		can, within := f.goOn(n)
		f.can[n] = can
		must[c] &= can
		goes[c] |= within
	}
	for c := range f.fair {
		f.fair[c] = f.fair[c] && must[c]&^goes[c] == 0
	}
}

// goOn returns the actors that can act in state n (can), and those that can act without leaving n's component (within).
func (f *fairness) goOn(n uint32) (can, within fairnessSet) {
	for i, m := range f.moves(n) {
		can |= turn(m.action)
		if f.of[f.edges(n)[i]] == f.of[n] {
			within |= turn(m.action)
		}
	}
	return can, within
}

// path returns the actions by which state n was first reached.
func (f *fairness) path(n uint32) []scenario.Action {
	var back []scenario.Action
	for n != 0 {
		up := f.parent[n]
		back = append(back, f.moves(up)[slices.Index(f.edges(up), n)].action)
		n = up
	}
	slices.Reverse(back)
	return back
}

// around returns a cycle from a state back to itself within its component. Each actor acts at least once along the
// cycle, or cannot act in at least one of its states.
func (f *fairness) around(from uint32) []scenario.Action {
	var way []scenario.Action
	at, left := from, f.can[from]
	for left != 0 || at != from {
		leg, end := f.leg(at, func(m taken, to uint32) bool {
			return left == 0 && to == from || left&turn(m.action) != 0 || left&^f.can[to] != 0
		})
		for _, a := range leg {
			left &^= turn(a)
		}
		way, at = append(way, leg...), end
		left &= f.can[at]
	}
	return way
}

// leg returns the shortest path from a state, within its component, to the first move that satisfies good. It also
// returns the state after this move.
func (f *fairness) leg(from uint32, good func(taken, uint32) bool) ([]scenario.Action, uint32) {
	type come struct {
		by   uint32
		edge int
	}
	seen := map[uint32]come{from: {}}
	queue := []uint32{from}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for i, m := range f.moves(n) {
			to := f.edges(n)[i]
			if f.of[to] != f.of[n] {
				continue
			}
			if good(m, to) {
				way := []scenario.Action{m.action}
				for ; n != from; n = seen[n].by {
					way = append(way, f.moves(seen[n].by)[seen[n].edge].action)
				}
				slices.Reverse(way)
				return way, to
			}
			if _, ok := seen[to]; !ok {
				seen[to] = come{n, i}
				queue = append(queue, to)
			}
		}
	}
	panic("search: a component that is not strongly connected")
}
