package search

import (
	"slices"

	"github.com/lockproof/lockproof/model/scenario"
)

// links are observed changes of clients' parts. The high 32 bits are a part's number, the low 32 bits the number of its
// successor.
type links map[uint64]struct{}

func (l links) add(from, to uint32) { l[uint64(from)<<32|uint64(to)] = struct{}{} }

// idleSteps are the observed steps that change no client with an operation under way: time passes, the server detects
// that a client is dead, or a holder reads a change. A step is a pair of fingerprints: that of a state and that of its
// successor. Each step is there once.
type idleSteps [][2]uint64

// mostIdle is the maximal number of idle steps. With more, the search does not decide by links and idle steps whether
// all executions end.
const mostIdle = 1 << 22

// link records the step by action a from state t to state to, which has fingerprint fp.
func (w *worker) link(a scenario.Action, t, to []uint32, fp uint64) {
	if spends(a.Kind) {
		return
	}
	idle := true
	for c := 1; c < len(t); c++ {
		if t[c] == to[c] {
			continue
		}
		was, is := w.clients.At(t[c]), w.clients.At(to[c])
		if was.Busy != is.Busy && !w.bounds.Forever {
			return // the beginning or end of an operation is not part of a cycle
		}
		if was.Busy || w.bounds.Forever && !was.Dead {
			w.carried.add(t[c], to[c])
			idle = false
		}
	}
	if idle && len(w.idle) <= mostIdle {
		w.idle = append(w.idle, [2]uint64{w.fingerprint(t), fp})
	}
}

// links adds all links that the worker has observed to l.
func (w *worker) links(l links) {
	for own, lists := range w.known {
		for _, id := range lists {
			for _, m := range w.moves[w.lists[id].from:w.lists[id].to] {
				if !spends(m.action.Kind) {
					l.add(uint32(own), m.client)
				}
			}
		}
	}
	for _, e := range w.other.entries {
		if e.val != 0 {
			l.add(uint32(e.own), e.val-1)
		}
	}
	for k := range w.carried {
		l[k] = struct{}{}
	}
}

// links returns all links that the search has observed, including those from its checkpoint.
func (s *search) links() links {
	l := make(links)
	for k := range s.linked {
		l[k] = struct{}{}
	}
	for _, w := range s.workers {
		w.links(l)
	}
	return l
}

// idle returns all idle steps that the search has observed, including those from its checkpoint.
func (s *search) idle() idleSteps {
	all := slices.Clone(s.idled)
	for _, w := range s.workers {
		all = append(all, w.idle...)
	}
	return all
}

// acyclic reports whether the links and idle steps suffice to show that the states have no cycle.
//
// Along a cycle of states no client dies. No client begins or ends an operation either, unless workloads repeat
// (Forever). Consider the parts of the clients with an operation under way; if workloads repeat, of all live clients.
// Along the cycle, each such part follows links in a cycle, or stays the same. With symmetry, a cycle may return with
// clients permuted; repeating it restores their places. If the links have no cycle, these parts stay the same, so all
// steps of the cycle are idle. Actions that use up a fault have no links: the number of faults left is part of a state
// and only decreases.
//
// Moves from a memo table always count as links, even if they do not change a part. They never count as idle steps.
func (s *search) acyclic() bool {
	idle := s.idle()
	return len(idle) <= mostIdle && s.links().acyclic() && idle.links().acyclic()
}

// links returns the idle steps as links between numbers of states. States with the same fingerprint have the same
// number, so every cycle of states is a cycle of links.
func (steps idleSteps) links() links {
	var all []uint64
	for _, step := range steps {
		all = append(all, step[:]...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	number := func(fp uint64) uint32 {
		i, _ := slices.BinarySearch(all, fp)
		return uint32(i)
	}
	l := make(links)
	for _, step := range steps {
		l.add(number(step[0]), number(step[1]))
	}
	return l
}

// acyclic reports whether the links have no cycle.
func (l links) acyclic() bool {
	_, cyclic := l.graph().components()
	for _, c := range cyclic {
		if c {
			return false
		}
	}
	return true
}

// graph returns the graph whose edges are the links.
func (l links) graph() *graph {
	n := 0
	for k := range l {
		n = max(n, int(k>>32)+1, int(uint32(k))+1)
	}
	g := &graph{first: make([]int, n+1), to: make([]uint32, len(l))}
	for k := range l {
		g.first[k>>32]++
	}
	for i, sum := 0, 0; i <= n; i++ {
		sum += g.first[i]
		g.first[i] = sum
	}
	for k := range l { // each node's edges are filled from the end, so first[i] ends at the first edge of node i
		g.first[k>>32]--
		g.to[g.first[k>>32]] = uint32(k)
	}
	return g
}
