package search

import (
	"github.com/lockproof/lockproof/model/scenario"
)

// links are the observed successors of clients' parts: one part in the high half, its successor in the low.
type links map[uint64]struct{}

func (l links) add(from, to uint32) { l[uint64(from)<<32|uint64(to)] = struct{}{} }

// note records an action's changes of the clients. If the acting client's part stays the same, or the broker's action
// changes no client, that is a link of a part to itself.
func (l links) note(a scenario.Action, t, to []uint32) {
	if spends(a.Kind) {
		return
	}
	changed := false
	for c := 1; c < len(t); c++ {
		own := c == int(a.Client)
		if t[c] != to[c] || own {
			l.add(t[c], to[c])
		}
		changed = changed || t[c] != to[c]
	}
	if a.Client == 0 && !changed {
		l.add(t[1], t[1])
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

// acyclic reports whether the links of parts alone exclude a cycle among the states.
//
// Along a cycle of states each client's part follows links in a cycle, or stays the same. With symmetry a cycle may return
// with clients permuted; repeating it restores their places. If the links have no cycle, all parts stay the same. But then
// the client that moves has a link to itself, which is a cycle, too. Faults that are used up have no links: the number left
// is part of a state and only decreases.
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
