package sim_test

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestCountsTwice: in some scenarios for clients that are not ours, one of them counts the slots before and after whatever else it
// does, while another changes them: who remembers what it has counted is wrong then.
func TestCountsTwice(t *testing.T) {
	const most = 400
	count := scenario.Operation{Op: lock.Count}
	source, twice := sim.NewSource(sim.Space{Target: amqplock.References[0]}, 1), 0
	for i := range most {
		sc := source.External(i, 0)
		for j, c := range sc.Clients {
			others := slices.Delete(slices.Clone(sc.Clients), j, j+1)
			if len(c.Ops) > 1 && c.Ops[0] == count && c.Ops[len(c.Ops)-1] == count && slices.ContainsFunc(others, changes(c.Lock)) {
				twice++
			}
		}
	}
	if twice < most/50 {
		t.Errorf("somebody counts twice in %d of %d scenarios", twice, most)
	}
}

// changes is whether a client changes the slots of a lock.
func changes(of int) func(scenario.Client) bool {
	return func(c scenario.Client) bool {
		return c.Lock == of && slices.ContainsFunc(c.Ops, func(o scenario.Operation) bool { return o.Op == lock.Add || o.Op == lock.Remove })
	}
}
