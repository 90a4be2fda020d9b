package sim_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/consul"
)

// TestRoomForAll judges histories of locks whose permits have no numbers, with at least as many slots as clients. No
// history is illegal: none grants another client's slot, and none refuses although a slot is free.
func TestRoomForAll(t *testing.T) {
	for _, name := range []string{"consul", "mariadb", "postgres"} {
		b, err := lock.BackendNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range b.Targets() {
			// This target is left out: it grants leases that have already ended, and the history does not show that.
			if target.Traits.Has(lock.Permits) && target.Name != "postgres-transaction-time" {
				accusedOfNumbers(t, target, 200)
			}
		}
	}
}

// accusedOfNumbers runs executions of a target in which each client can have a slot, and reports illegal histories.
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
