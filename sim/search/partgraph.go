package search

import (
	"slices"

	"github.com/lockproof/lockproof/model/scenario"
)

// links are the observed successors of clients' parts: one part in the high half, its successor in the low.
type links map[uint64]struct{}

func (l links) add(from, to uint32) { l[uint64(from)<<32|uint64(to)] = struct{}{} }

// idleSteps are the observed steps that change the part of no client with an operation under way: time passes, the server
// notices that a client is dead, a holder looks at what has changed. A step leads from one state to another, by their
// fingerprints. No step is there twice.
type idleSteps [][2]uint64

// mostIdle bounds them. Beyond it the links of parts do not tell whether executions end.
const mostIdle = 1 << 22

// link records a step from t to a state with the fingerprint fp.
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
			return // an operation begins or ends once
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
	all := slices.Clone(s.idled)
	for _, w := range s.workers {
		all = append(all, w.idle...)
	}
	return all
}

// acyclic reports whether the links and idle steps alone exclude a cycle among the states.
//
// Along a cycle of states nobody dies, and nobody begins or ends an operation, unless workloads begin again. The part of each
// client that has one under way (or lives, if they do) follows links in a cycle, or stays the same. With symmetry a cycle may
// return with clients permuted; repeating it restores their places. If the links have no cycle, these parts stay the same, and
// all of the cycle's steps are idle. Faults that are used up have no links: the number left is part of a state and only
// decreases.
//
// A memo table's moves are links whether they change a part or not, and none of its steps is idle.
func (s *search) acyclic() bool {
	idle := s.idle()
	return len(idle) <= mostIdle && s.links().acyclic() && idle.links().acyclic()
}

// links are the steps with the states numbered. States with one fingerprint are taken for one, which keeps every cycle.
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
