package mutant_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/mutant"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// TestDecided: whether a history is linearizable is decided, however many ways there are to explain it;
// one of these has more than most.
func TestDecided(t *testing.T) {
	var r sim.Runner
	var c spec.Checker
	target := mutant.Named("locked-is-success")
	source := sim.NewSource(sim.Space{Target: target}, 3)
	for i := range 3000 {
		s := source.Scenario(i)
		r.Run(target, &s)
		if r.Monitor.Witnessed {
			continue
		}
		h := r.History()
		for strength := spec.Scan; strength <= spec.Strict; strength++ {
			if f := c.Linearizable(&h, spec.LinearizableOptions{Strength: strength}); f.Decision == spec.Undecided {
				t.Errorf("scenario %d, %s: %s", i, strength, f.Why)
			}
		}
	}
}
