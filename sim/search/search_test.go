package search

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// standard returns the configuration of these tests. Each client acquires and releases in each round. Each
// administrator removes a slot and adds it again.
func standard(clients, rounds, admins, slots, crashes int) sim.Bounds {
	b := sim.Bounds{
		Target: amqplock.References[0], Options: amqplock.DefaultOptions(),
		Locks:      []scenario.Lock{{Name: "jobs", Slots: uint8(slots)}},
		Faults:     sim.FaultBounds{Crashes: crashes},
		Properties: property.Applicable(lock.Semaphore),
	}
	for range clients {
		var c scenario.Client
		for range rounds {
			c.Ops = append(c.Ops, scenario.Operation{Op: lock.Acquire}, scenario.Operation{Op: lock.Release})
		}
		b.Clients = append(b.Clients, c)
	}
	for range admins {
		b.Clients = append(b.Clients, scenario.Client{Ops: []scenario.Operation{{Op: lock.Remove, Arg: 1}, {Op: lock.Add, Arg: 1}}})
	}
	return b
}

// TestCounts compares the numbers of states with fixed numbers, so that a search that visits fewer states fails.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name                         string
		red                          Reductions
		countStates, moves, diameter int64
	}{
		{"none", Reductions{}, 11160, 57439, 35},
		{"symmetry", Reductions{Symmetry: true}, 5681, 28910, 35},
		{"all", AllReductions, 3617, 19904, 28},
	} {
		for _, workers := range []int{1, 2} {
			r := Run(context.Background(), standard(2, 1, 1, 2, 1), Options{Workers: workers, Reductions: c.red})
			if r.Found != 0 || r.Stop != Finished {
				t.Errorf("%s: found %b, stopped %d", c.name, r.Found, r.Stop)
			}
			if r.States != c.countStates || r.Transitions != c.moves || int64(r.Depth) != c.diameter {
				t.Errorf("%s, %d workers: %d states, %d transitions, %d levels; want %d, %d, %d",
					c.name, workers, r.States, r.Transitions, r.Depth, c.countStates, c.moves, c.diameter)
			}
		}
	}
}
