package mutant_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// TestDecided: the checker decides for every history whether it is linearizable. The histories include one with
// unusually many possible linearizations.
func TestDecided(t *testing.T) {
	var r sim.Runner
	var c linear.Checker
	target := mutant.Named("locked-is-success")
	source := sim.NewSource(sim.Space{Target: target}, 3)
	for i := range 3000 {
		s := source.Scenario(i)
		r.Run(target, &s)
		if r.Monitor.Witnessed {
			continue
		}
		h := r.History()
		for failedAcquire := property.Weak; failedAcquire <= property.Strong; failedAcquire++ {
			if f := c.Linearizable(&h, linear.Options{FailedAcquire: failedAcquire}); f.Decision == linear.Undecided {
				t.Errorf("scenario %d, %s: %s", i, failedAcquire, f.Why)
			}
		}
	}
}
