package anynumber

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// TestFaults compares the numbers of contexts, views and parts with fixed numbers, for configurations in which faults
// happen.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name                   string
		admins                 int
		change                 func(*sim.FaultBounds)
		props                  property.Set
		contexts, Views, Table int64
	}{
		{"restarts", 0, func(f *sim.FaultBounds) { f.Restarts = sim.AnyNumber }, 1<<property.MutualExclusion | 1<<property.SurvivesRestart, 3, 264, 92},
		{"restarts beside an administrator", 1, func(f *sim.FaultBounds) { f.Restarts = sim.AnyNumber }, 1 << property.SurvivesRestart, 18, 2624, 191},
		{"drops", 0, func(f *sim.FaultBounds) { f.Drops = sim.AnyNumber }, 1<<property.MutualExclusion | 1<<property.HonestVerify, 3, 267, 93},
		{"lost replies", 0, func(f *sim.FaultBounds) { f.Lost = sim.AnyNumber }, 1 << property.MutualExclusion, 3, 129, 47},
	} {
		b := standard(1, c.admins, c.props, false)
		c.change(&b.Faults)
		r := Run(t.Context(), b, Options{Workers: 1})
		if r.Stop != closing(&b) || r.Err != nil || r.Found != 0 {
			t.Errorf("%s: stopped %d, %v, found %b", c.name, r.Stop, r.Err, r.Found)
		}
		if r.Contexts != c.contexts || r.Views != c.Views || int64(r.Parts[1]) != c.Table {
			t.Errorf("%s: %d contexts, %d views, %d parts", c.name, r.Contexts, r.Views, r.Parts[1])
		}
	}
}

// TestReal: the search finds a violation. Real finds a shortest execution of enough real clients that has the same
// violation.
func TestReal(t *testing.T) {
	b := standard(1, 0, 1<<property.MutualExclusion, false)
	b.Target, b.Faults.Crashes = mutant.Named("locked-is-success"), 0
	r := Run(t.Context(), b, Options{Workers: 1})
	if !r.Found.Has(property.MutualExclusion) {
		t.Fatalf("found %b", r.Found)
	}
	illegal := func([]scenario.Action) bool { return false }
	for clients, want := range []bool{1: false, 2: true} {
		if clients == 0 {
			continue
		}
		found, whole := r.Real(t.Context(), 1<<property.MutualExclusion, clients, 1<<20, illegal)
		plain, _ := search.Counterexamples(t.Context(), r.Bounds(clients), search.Reductions{}, 1<<property.MutualExclusion, illegal)
		got := found[property.MutualExclusion]
		if (got != nil) != want || !want && !whole || len(got) != len(plain[property.MutualExclusion]) {
			t.Errorf("%d clients: %v, everything visited %v; without reductions %v", clients, got, whole, plain)
		}
	}
}
