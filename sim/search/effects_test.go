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

// TestEffects: for each property, a search with memo tables visits the states that a search without them visits. The
// tables tell actions apart only by what is kept of their effects for the property ([sim.Effect.Kept]).
func TestEffects(t *testing.T) {
	client := scenario.Client{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Release}}}
	remover := scenario.Client{Ops: []scenario.Operation{{Op: lock.Remove, Arg: 1}}}
	adder := scenario.Client{Ops: []scenario.Operation{{Op: lock.Add, Arg: 1}, {Op: lock.Count}}}
	for name, b := range map[string]sim.Bounds{
		"clients and an administrator": {Clients: []scenario.Client{client, client, remover}, Faults: sim.FaultBounds{Crashes: 1, Late: true}},
		"two administrators":           {Clients: []scenario.Client{client, remover, adder}},
	} {
		b.Target, b.Options, b.Locks = amqplock.References[0], amqplock.DefaultOptions(), []scenario.Lock{{Name: "jobs", Slots: 1}}
		for p := range property.Count {
			if b.Properties = 1 << p; !property.Applicable(lock.Semaphore).Has(p) {
				continue
			}
			with := Run(context.Background(), b, Options{})
			without := Run(context.Background(), b, Options{unmemoised: true})
			if with.Stop != Finished || with.States != without.States || with.Transitions != without.Transitions || with.Found != without.Found {
				t.Errorf("%s, %s: %d states, %d transitions, found %b; without memo tables %d, %d, %b",
					name, p, with.States, with.Transitions, with.Found, without.States, without.Transitions, without.Found)
			}
		}
	}
}
