package search

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestComponents compares components with what can be reached from where, on random graphs.
func TestComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(8)
		l := make(links)
		reach := make([][]bool, n) // by one edge or more
		for i := range reach {
			reach[i] = make([]bool, n)
		}
		l.add(uint32(n-1), 0) // so that every node is in the graph
		for range rng.IntN(2 * n) {
			l.add(uint32(rng.IntN(n)), uint32(rng.IntN(n)))
		}
		for k := range l {
			reach[k>>32][uint32(k)] = true
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		of, cyclic := l.graph().components()
		for i := range n {
			if cyclic[of[i]-1] != reach[i][i] {
				t.Fatalf("%v: node %d on a cycle: %v", l, i, reach[i][i])
			}
			for j := range n {
				if i != j && (of[i] == of[j]) != (reach[i][j] && reach[j][i]) {
					t.Fatalf("%v: nodes %d and %d in one component: %v", l, i, j, of)
				}
			}
		}
	}
}

// TestPartsAndStates compares the cycles among parts with those among states, for every reduction. If the parts have
// none, neither have the states. The number of states is that of an unreduced search.
func TestPartsAndStates(t *testing.T) {
	var all []sim.Bounds
	for _, f := range []sim.FaultBounds{{}, {Crashes: 1, Late: true}, {Drops: 1}, {ChannelErrors: 1}, {Lost: 1, Late: true}, {Restarts: 1}} {
		b := standard(2, 1, 0, 1, 0)
		b.Faults = f
		all = append(all, b)
	}
	skewed, shared, random := standard(2, 1, 0, 1, 0), standard(2, 1, 0, 1, 0), standard(2, 1, 0, 2, 0)
	skewed.Options = amqplock.Table.Edit(skewed.Options, func(o *amqplock.Options) { o.Jitter = 2 })
	shared.Options = amqplock.Table.Edit(shared.Options, func(o *amqplock.Options) { o.Connection = amqplock.SharedConnection })
	random.Options = amqplock.Table.Edit(random.Options, func(o *amqplock.Options) { o.Restart = amqplock.RestartRandom })
	all = append(all, skewed, shared, random, standard(1, 1, 1, 1, 1), hasty(), leased())
	for i, b := range all {
		whole := Run(context.Background(), b, Options{Workers: 1})
		g, ok := newStateGraph(context.Background(), newPlan(b, Reductions{}), 0)
		if !ok || int64(g.count()) != whole.States {
			t.Fatalf("%d: %d states, want %d", i, g.count(), whole.States)
		}
		_, cyclic := g.components()
		for _, red := range []Reductions{{}, {Symmetry: true}, AllReductions} {
			s := newSearch(context.Background(), b, Options{Reductions: red, Workers: 1})
			s.begin()
			for s.queued > 0 {
				s.step()
			}
			if !s.acyclic() || slices.Contains(cyclic, true) {
				t.Errorf("%d, %v: the parts say %v, the states %v", i, red, s.acyclic(), !slices.Contains(cyclic, true))
			}
			s.seen.free()
		}
	}
}

// leased is a lock with leases, one of which the server may extend for a client that is dead: the client's part then
// returns to what it was, and the state does not.
func leased() sim.Bounds {
	target := lock.TargetNamed("mariadb-slots")
	use := []scenario.Operation{op(lock.Acquire, 0), op(lock.Refresh, 0)}
	return sim.Bounds{
		Target: target, Options: target.Settled(lock.BackendOf(target).Defaults), Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients: []scenario.Client{{Ops: use}, {Ops: use[:1]}}, Faults: sim.FaultBounds{Crashes: 1, Late: true},
		Properties: property.Applicable(lock.Semaphore),
	}
}

// TestIdleSteps: steps of nobody who lives are recorded as steps between states, not as links of parts.
func TestIdleSteps(t *testing.T) {
	s := newSearch(context.Background(), leased(), Options{Workers: 1, Reductions: AllReductions})
	s.begin()
	for s.queued > 0 {
		s.step()
	}
	defer s.seen.free()
	if len(s.idle()) == 0 || !s.acyclic() {
		t.Errorf("%d idle steps, acyclic: %v", len(s.idle()), s.acyclic())
	}
	for k := range s.links() {
		if s.clients.At(uint32(k >> 32)).Dead {
			t.Errorf("a link of a dead client's part")
		}
	}
	around := idleSteps{{7, 9}: {}, {9, 8}: {}}
	if !around.links().acyclic() {
		t.Error("a way is taken for a cycle")
	}
	if around[[2]uint64{8, 7}] = struct{}{}; around.links().acyclic() {
		t.Error("a cycle is not seen")
	}
}

// TestStateGraphBounds: the state graph is given up with too little memory, or when its context ends.
func TestStateGraphBounds(t *testing.T) {
	p := newPlan(hasty(), Reductions{})
	if c, _ := p.fairCycle(context.Background(), 1<<12); c != CyclesUnknown {
		t.Errorf("with little memory: %s", c)
	}
	if c, _ := p.fairCycle(searchtest.NewCountdown(1), 0); c != CyclesUnknown {
		t.Errorf("interrupted: %s", c)
	}
}
