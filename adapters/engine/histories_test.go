package engine_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// TestHistoriesWellFormed checks that every history of every target is well-formed, because the checker leaves a
// malformed history undecided. For reference locks judged by linearizability, every history must be decided.
func TestHistoriesWellFormed(t *testing.T) {
	for _, target := range engine.Targets() {
		t.Run(target.Name, func(t *testing.T) { wellFormed(t, target) })
	}
}

func wellFormed(t *testing.T, target *lock.Target) {
	t.Parallel()
	var r sim.Runner
	source := sim.NewSource(sim.Space{Target: target}, 1)
	for i := range 300 {
		s := source.Scenario(i)
		r.Run(target, &s)
		h := r.History()
		if err := linear.Validate(&h); err != nil {
			t.Fatalf("execution %d: %v", i, err)
		}
		if _, undecided := r.Judge(property.Weak); undecided != "" && target.Breaks == "" && property.Of(target).Has(property.Linearizable) {
			t.Fatalf("execution %d is undecided: %s", i, undecided)
		}
	}
}
