package sim_test

import (
	"testing"

	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// TestLeasesSampled judges random executions of the locks with leases. The reference locks violate nothing, even if
// clocks are wrong. Each mutant violates the property that it is meant to violate.
func TestLeasesSampled(t *testing.T) {
	const scenarios = 3000
	var r sim.Runner
	for _, target := range leaseTargets {
		source := sim.NewSource(sim.Space{Target: target}, 1)
		var found property.Set
		first, judged := -1, property.Of(target)
		var own, servers int64
		for i := range scenarios {
			s := source.Scenario(i)
			tr := r.Trace(target, &s, property.Weak)
			for _, v := range tr.Violations {
				if judged.Has(v.Property) {
					if target.Breaks == "" && !found.Has(v.Property) {
						t.Errorf("%s: scenario %d: %s: %s", target.Name, i, v.Property, v.Explain())
					}
					found = found.With(v.Property)
				}
			}
			own, servers = max(own, r.Monitor.OwnClock), max(servers, r.Monitor.Overlap)
			if first < 0 && target.Breaks != "" && found.Has(named(t, target.Breaks)) {
				first = i
			}
		}
		t.Logf("%s: %v; stale beliefs of %d ms by the server's clock, %d ms by their client's", target.Name, found.Names(), servers, own)
		switch {
		case target.Breaks != "" && first < 0:
			t.Errorf("%s: %s is not found, but %v", target.Name, target.Breaks, found.Names())
		case target.Breaks != "":
			historiestest.Golden(t, target.Name+".txt", minimal(t, target, source.Scenario(first)))
		}
	}
}

// TestLeasesExplored searches all executions of these locks, with clock faults. The violations are the same with
// reductions and without.
func TestLeasesExplored(t *testing.T) {
	ops := func(arg uint8, all ...lock.Op) (out scenario.Client) {
		for _, op := range all {
			o := scenario.Operation{Op: op}
			if op == lock.Acquire {
				o.Arg = arg
			}
			out.Ops = append(out.Ops, o)
		}
		return out
	}
	for _, target := range leaseTargets {
		first, second := ops(1, lock.Acquire, lock.Refresh, lock.Release), ops(1, lock.Acquire, lock.Release)
		faults := sim.FaultBounds{Clocks: 1}
		switch {
		case target == leaseHasty: // after a drop, the first client reconnects while it acquires
			first, faults.Drops = ops(1, lock.Acquire, lock.Acquire, lock.Release), 1
		case target.Traits.Has(lock.Priorities) && target != leaseEqual:
			second = ops(2, lock.Acquire, lock.Release)
		case target.Breaks == "":
			first, faults.Crashes, faults.Late = second, 1, true // two clients with equal workloads, for symmetry
		}
		b := sim.Bounds{
			Target: target, Options: lock.BackendOf(target).Defaults, Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients: []scenario.Client{first, second}, Faults: faults, Properties: property.Of(target),
		}
		res := search.Run(t.Context(), b, search.Options{Workers: 1, Reductions: search.AllReductions})
		plain := search.Run(t.Context(), b, search.Options{Workers: 1})
		t.Logf("%s: %d states, %d without reductions; %v", target.Name, res.States, plain.States, res.Found.Names())
		want := property.Set(0)
		if target.Breaks != "" {
			want = want.With(named(t, target.Breaks))
		}
		if more := res.Found &^ want; target.Breaks == "" && more != 0 {
			found, _ := search.Counterexamples(t.Context(), b, search.AllReductions, more, func([]scenario.Action) bool { return false })
			for p, actions := range found {
				t.Log(p, actions)
			}
		}
		if res.Stop != search.Finished || res.Found&want != want || want == 0 && res.Found != 0 {
			t.Errorf("%s: %v, violates %v", target.Name, res.Stop, res.Found.Names())
		}
		if plain.Stop != search.Finished || plain.Found != res.Found {
			t.Errorf("%s: %v without reductions, and %v with them", target.Name, plain.Found.Names(), res.Found.Names())
		}
	}
}
