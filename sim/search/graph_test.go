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

// TestComponents compares the components of random graphs with the nodes that can reach each other.
func TestComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(8)
		l := make(links)
		reach := make([][]bool, n) // reach[a][b]: one or more edges lead from a to b
		for i := range reach {
			reach[i] = make([]bool, n)
		}
		l.add(uint32(n-1), 0) // a self-loop makes the graph have all n nodes
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

// TestPartsAndStates compares cycles among parts with cycles among states, for every reduction. If the parts have no
// cycle, the states have none. The state graph has as many states as an unreduced search.
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

// leased is a lock with leases. The server may extend the lease of a dead client. The encoded part of this client then
// returns to its earlier value, and the whole state does not.
func leased() sim.Bounds {
	target := lock.TargetNamed("mariadb-slots")
	use := []scenario.Operation{op(lock.Acquire, 0), op(lock.Refresh, 0)}
	return sim.Bounds{
		Target: target, Options: target.Settled(lock.BackendOf(target).Defaults), Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients: []scenario.Client{{Ops: use}, {Ops: use[:1]}}, Faults: sim.FaultBounds{Crashes: 1, Late: true},
		Properties: property.Applicable(lock.Semaphore),
	}
}

// TestIdleSteps: a step that changes no client with an operation under way is recorded as an idle step between two
// states, and not as a link between two parts.
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
		if !s.clients.At(uint32(k >> 32)).Busy {
			t.Errorf("a link of the part of a client without an operation")
		}
	}
	around := idleSteps{{7, 9}, {9, 8}}
	if !around.links().acyclic() {
		t.Error("a way is taken for a cycle")
	}
	if around = append(around, [2]uint64{8, 7}); around.links().acyclic() {
		t.Error("a cycle is not seen")
	}
}

// TestUntimedCycles searches random configurations of each backend without memo tables. If links and idle steps exclude
// a cycle, the graph of all states has none. Some workloads repeat forever, and these have cycles.
func TestUntimedCycles(t *testing.T) {
	count := map[[2]bool]int{} // by whether links and idle steps exclude cycles, and whether the graph does
	for _, b := range lock.Backends() {
		r := rand.New(rand.NewPCG(44, 1))
		targets := b.Targets()
		for range 50 {
			bounds := randomTimed(r, targets[r.IntN(len(targets))])
			s := newSearch(t.Context(), bounds, Options{Workers: 1, Reductions: AllReductions, unmemoised: true})
			s.begin()
			for s.queued > 0 && s.seen.count() < 5000 {
				s.step()
			}
			whole := s.queued == 0
			s.seen.free()
			if !whole {
				continue
			}
			p := newPlan(bounds, Reductions{})
			p.slow(true)
			g, _ := newStateGraph(t.Context(), p, 0)
			_, cyclic := g.components()
			excluded, any := s.acyclic(), slices.Contains(cyclic, true)
			if count[[2]bool{excluded, any}]++; excluded && any {
				t.Fatalf("%s, %+v: a cycle is excluded that there is", bounds.Target.Name, bounds)
			}
		}
	}
	if count[[2]bool{true, false}] < 80 || count[[2]bool{false, true}] < 10 {
		t.Errorf("hardly any: %v", count)
	}
}

// randomTimed draws a configuration of a target that has few states.
func randomTimed(r *rand.Rand, target *lock.Target) sim.Bounds {
	b := sim.Bounds{
		Target: target, Options: target.Settled(lock.BackendOf(target).Defaults), Locks: []scenario.Lock{{Name: "jobs", Slots: uint8(1 + r.IntN(2))}},
		Properties: property.Applicable(target.Kind), Forever: r.IntN(4) == 0,
	}
	if target.Kind == lock.Mutex {
		b.Locks[0].Slots = 0
	}
	for c := range 1 + r.IntN(2) {
		ops := []scenario.Operation{op(lock.Acquire, uint8(1+c))}
		if offered := target.Operations(); r.IntN(2) == 0 && !offered[len(offered)-1].Administrative() {
			ops = append(ops, op(offered[len(offered)-1], 0))
		}
		b.Clients = append(b.Clients, scenario.Client{Ops: ops})
	}
	if !b.Forever || r.IntN(2) == 0 {
		randomFaults(&b, r)
	}
	for _, n := range []*int{&b.Faults.Crashes, &b.Faults.Drops, &b.Faults.ChannelErrors, &b.Faults.Lost, &b.Faults.Restarts} {
		*n = max(*n, -*n) // bounds every fault: links do not record faults, and unbounded ones form cycles
	}
	return b
}

// TestStateGraphBounds: building the state graph ends early if memory is too small, or if the context ends.
func TestStateGraphBounds(t *testing.T) {
	p := newPlan(hasty(), Reductions{})
	if c, _ := p.fairCycle(context.Background(), 1<<12); c != CyclesUnknown {
		t.Errorf("with little memory: %s", c)
	}
	if c, _ := p.fairCycle(searchtest.NewCountdown(1), 0); c != CyclesUnknown {
		t.Errorf("interrupted: %s", c)
	}
}
