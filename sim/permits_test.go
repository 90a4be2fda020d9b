package sim_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/consul"
)

// TestRoomForAll: slots without numbers are not taken for numbered ones. If there is one for each client, no client is
// granted another's slot. No client is told that the lock is full though a certain slot is free.
func TestRoomForAll(t *testing.T) {
	for _, name := range []string{"consul", "mariadb", "postgres"} {
		b, err := lock.BackendNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range b.Targets() {
			// The lock excepted grants leases that are over already, and the history does not tell so.
			if target.Traits.Has(lock.Permits) && target.Name != "postgres-transaction-time" {
				accusedOfNumbers(t, target, 200)
			}
		}
	}
}

// accusedOfNumbers judges executions of a target with a slot for each client.
func accusedOfNumbers(t *testing.T, target *lock.Target, executions int) {
	t.Helper()
	var r sim.Runner
	var c linear.Checker
	source := sim.NewSource(sim.Space{Target: target}, 1)
	for i := 0; executions > 0; i++ {
		s := source.Scenario(i)
		roomy := true
		for l := range s.Locks {
			roomy = roomy && int(s.Locks[l].Slots) >= len(s.Clients)
		}
		if !roomy {
			continue
		}
		executions--
		r.Run(target, &s)
		h := r.History()
		f := c.Linearizable(&h, linear.Options{})
		if f.Decision == linear.Illegal && !strings.Contains(f.Why, "its connection had ended before") {
			t.Errorf("%s, scenario %d: %s", target.Name, i, f.Why)
		}
	}
}
