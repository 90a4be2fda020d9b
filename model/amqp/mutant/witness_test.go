package mutant_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

var witnessed = flag.Int("witnessed", 250, "on how many scenarios of each target the witness is compared with the history")

// TestWitness: if the monitor has a witness of linearizability for an execution, the checker never finds its history
// illegal. This holds for all references and mutants.
func TestWitness(t *testing.T) {
	var r sim.Runner
	var c linear.Checker
	for _, target := range slices.Concat(amqplock.References, mutant.All) {
		source := sim.NewSource(sim.Space{Target: target}, 1)
		for i := range *witnessed {
			s := source.Scenario(i)
			r.Run(target, &s)
			h := r.History()
			for failedAcquire, vouched := range map[property.FailedAcquire]bool{property.Weak: r.Monitor.Witnessed, property.Strong: r.Monitor.WitnessedStrong} {
				if !vouched {
					continue
				}
				if f := c.Linearizable(&h, linear.Options{FailedAcquire: failedAcquire}); f.Decision == linear.Illegal {
					t.Errorf("%s, scenario %d, %s: the monitor vouches for a history of which %s says: %s", target.Name, i, failedAcquire, f.How, f.Why)
				}
			}
		}
	}
}
