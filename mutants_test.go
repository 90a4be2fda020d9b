package lockproof_test

import (
	"flag"
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/model/spec"
)

var seeds = flag.Int("seeds", 2, "from how many seeds each mutant has to be killed")

// TestMutantsAreKilled: every mutant is found out, by the property that it was made to break, within
// the limit, from any seed.
func TestMutantsAreKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the killing of every mutant")
	}
	for _, m := range lockproof.Mutants() {
		p, err := spec.PropertyNamed(m.Breaks)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		t.Run(m.Name, func(t *testing.T) {
			worst := 0
			for seed := range uint64(*seeds) {
				res, err := lockproof.Prove(t.Context(), lockproof.Config{
					Target: m, Seed: seed + 1, Scenarios: lockproof.MutantLimit, Until: spec.PropertySet(0).With(p),
				})
				if err != nil {
					t.Fatal(err)
				}
				v := res.Report.Result(p).Violation
				if v == nil {
					t.Fatalf("survives %d scenarios from seed %d", lockproof.MutantLimit, seed+1)
				}
				worst = max(worst, v.Scenario)
			}
			t.Logf("killed by %s within %d scenarios from each of %d seeds", p, worst, *seeds)
		})
	}
}
