package sim_test

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestAbandonedFootprint: while a client has a half-open connection, its footprint has no Reads, so that no reduction
// lets its next command go first. The connection's queues can vanish at any moment, without a command of any client.
func TestAbandonedFootprint(t *testing.T) {
	b := sim.Bounds{
		Target: amqplock.References[0], Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients:    []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Acquire}}}},
		Faults:     sim.FaultBounds{Lost: 1, Late: true},
		Properties: property.Applicable(lock.Semaphore),
	}
	s := sim.NewSystem(b)
	lose := scenario.Action{Kind: scenario.Lose, Client: 1, Late: true}
	for !s.Holds(1) {
		s.Take(scenario.Action{Kind: scenario.Step, Client: 1})
	}
	s.Take(lose)
	detect := scenario.Action{Kind: scenario.Detect, Client: 1}
	reads := func() (any bool) {
		for slices.Contains(s.Actions(1, nil), scenario.Action{Kind: scenario.Step, Client: 1}) {
			any = any || s.Footprint(1, false).Reads != 0
			s.Take(scenario.Action{Kind: scenario.Step, Client: 1})
		}
		return any
	}
	shared, client := s.Shared(nil), s.Client(1, nil)
	if !slices.Contains(s.Actions(1, nil), detect) || s.Footprint(1, true).Writes&(1<<backend.Holder) == 0 {
		t.Fatal("it has no half-open connection by which it holds a slot")
	}
	if reads() {
		t.Error("what it reads is taken for what nobody changes while its old connection is half open")
	}
	s.Load(shared, [][]byte{client})
	if s.Take(detect); !reads() {
		t.Error("it reads nothing, even with no half-open connection")
	}
}
