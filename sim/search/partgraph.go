package search

import (
	"maps"

	"github.com/lockproof/lockproof/model/scenario"
)

// links are the observed successors of clients' parts: one part in the high half, its successor in the low.
type links map[uint64]struct{}

func (l links) add(from, to uint32) { l[uint64(from)<<32|uint64(to)] = struct{}{} }

// idleSteps are the observed steps that no living client takes, and that change none: time passes, or the server notices
// the end of a dead client's connection. A step leads from one state to another, by their fingerprints.
type idleSteps map[[2]uint64]struct{}

// link records a step from t to a state with the fingerprint fp. If the acting client's part stays the same, that is a
// link of the part to itself.
func (w *worker) link(a scenario.Action, t, to []uint32, fp uint64) {
	if spends(a.Kind) {
		return
	}
	lives := false
	for c := 1; c < len(t); c++ {
		if own := c == int(a.Client); (own || t[c] != to[c]) && !w.clients.At(t[c]).Dead {
			w.carried.add(t[c], to[c])
			lives = true
		}
	}
	if !lives {
		w.idle[[2]uint64{w.fingerprint(t), fp}] = struct{}{}
	}
}

// links are all that a worker knows of.
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

// links are all that the search knows of, before it was resumed and since.
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

// idle are all steps of that kind that the search knows of, before it was resumed and since.
func (s *search) idle() idleSteps {
	all := make(idleSteps)
	maps.Copy(all, s.idled)
	for _, w := range s.workers {
		maps.Copy(all, w.idle)
	}
	return all
}

// acyclic reports whether the links and idle steps alone exclude a cycle among the states.
//
// Along a cycle of states nobody dies, and the part of each client that lives follows links in a cycle, or stays the same.
// With symmetry a cycle may return with clients permuted; repeating it restores their places. If the links have no cycle,
// these parts stay the same, and no client that lives takes a step: it would have a link to itself. So all of the cycle's
// steps are idle. Faults that are used up have no links: the number left is part of a state and only decreases.
func (s *search) acyclic() bool { return s.links().acyclic() && s.idle().links().acyclic() }

// links are the steps with the states numbered. States with one fingerprint are taken for one, which keeps every cycle.
func (steps idleSteps) links() links {
	numbers := make(map[uint64]uint32)
	number := func(fp uint64) uint32 {
		if _, ok := numbers[fp]; !ok {
			numbers[fp] = uint32(len(numbers))
		}
		return numbers[fp]
	}
	l := make(links)
	for step := range steps {
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

// graph is the links as a graph of parts.
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
	for k := range l { // filled from the end: first moves to where it belongs
		g.first[k>>32]--
		g.to[g.first[k>>32]] = uint32(k)
	}
	return g
}
