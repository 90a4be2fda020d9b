package sim_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/redis"
	_ "github.com/lockproof/lockproof/sim/sql"
)

var witnessed = flag.Int("witnessed", 300, "on how many scenarios of each target of leases the witness is compared with the history")

// TestLeaseWitness compares the monitor with the history checker on locks with leases. If the monitor has a
// linearization of an execution, the history is never illegal. The monitor has one for nearly all executions of the
// reference locks.
func TestLeaseWitness(t *testing.T) {
	for _, name := range []string{"mariadb", "postgres", "redis"} {
		b, err := lock.BackendNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range slices.Concat(b.References, b.Mutants) {
			if !property.Of(target).Has(property.Linearizable) {
				continue
			}
			t.Run(target.Name, func(t *testing.T) {
				t.Parallel()
				if without := vouched(t, target, *witnessed); target.Breaks == "" && name != "redis" && 50*without > *witnessed {
					t.Errorf("%d of %d executions are no witness", without, *witnessed)
				}
			})
		}
	}
}

// vouched makes the comparison of [TestLeaseWitness] for random scenarios of a target. It returns the number of
// executions for which the monitor had no linearization.
func vouched(t *testing.T, target *lock.Target, scenarios int) (without int) {
	var r sim.Runner
	var c linear.Checker
	source := sim.NewSource(sim.Space{Target: target}, 1)
	for i := range scenarios {
		s := source.Scenario(i)
		if limitsDiffer(target, &s) {
			continue // the history does not have the callers' limits
		}
		r.Run(target, &s)
		h := r.History()
		if !r.Monitor.Witnessed {
			without++
		}
		for failedAcquire, vouched := range map[property.FailedAcquire]bool{property.Weak: r.Monitor.Witnessed, property.Strong: r.Monitor.WitnessedStrong} {
			if !vouched {
				continue
			}
			if f := c.Linearizable(&h, linear.Options{FailedAcquire: failedAcquire}); f.Decision == linear.Illegal {
				t.Errorf("scenario %d, %s: the monitor vouches for a history of which %s says: %s", i, failedAcquire, f.How, f.Why)
				return without
			}
		}
	}
	return without
}

// limitsDiffer reports whether any acquire states a limit other than the number of slots.
func limitsDiffer(target *lock.Target, s *scenario.Scenario) bool {
	return target.Traits.Has(lock.Limits) && slices.ContainsFunc(s.Clients, func(c scenario.Client) bool {
		return slices.ContainsFunc(c.Ops, func(o scenario.Operation) bool {
			return o.Op == lock.Acquire && o.Arg != s.Locks[c.Lock].Slots
		})
	})
}
