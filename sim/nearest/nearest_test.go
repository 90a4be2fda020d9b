package nearest

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/amqp/consumption"
	_ "github.com/lockproof/lockproof/sim/consul"
	_ "github.com/lockproof/lockproof/sim/redis"
	_ "github.com/lockproof/lockproof/sim/sql"
)

// TestFind: Find returns an execution without a violation that differs from the given one only in its last action.
func TestFind(t *testing.T) {
	s := scenario.Scenario{
		Target: "semaphore", Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}}}, {Ops: []scenario.Operation{{Op: lock.Acquire}}}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: []scenario.Action{
			{Kind: scenario.Step, Client: 1}, {Kind: scenario.Step, Client: 2}, {Kind: scenario.Step, Client: 1}, {Kind: scenario.CrashBefore, Client: 1},
		}},
	}
	var r sim.Runner
	trace := r.Trace(amqplock.References[0], &s, property.Weak)
	well := Find(amqplock.References[0], trace, 3, property.Weak)
	if well == nil || well.Parts != 3 {
		t.Fatalf("found %+v", well)
	}
	for i := range well.Parts {
		if well.Trace.Steps[i].Action != trace.Steps[i].Action {
			t.Errorf("step %d differs", i+1)
		}
	}
	if well.Trace.Steps[3].Action == trace.Steps[3].Action || len(well.Trace.Violations) > 0 {
		t.Errorf("it goes on with %s and violates %v", well.Trace.Steps[3].Action, well.Trace.Violations)
	}
}

// TestServers: Find finds an execution without a violation for locks on every kind of server.
func TestServers(t *testing.T) {
	for _, b := range lock.Backends() {
		found := 0
		for _, target := range b.Mutants {
			source := sim.NewSource(sim.Space{Target: target}, 1)
			for i := range 40 {
				var r sim.Runner
				s := source.Scenario(i)
				trace := r.Trace(target, &s, property.Weak)
				if len(trace.Violations) == 0 {
					continue
				}
				replayed := sim.Replay(trace)
				trace = r.Trace(target, &replayed, property.Weak)
				if Find(target, trace, trace.Violations[0].Step, property.Weak) != nil {
					found++
				}
				break
			}
		}
		if found == 0 {
			t.Errorf("%s: none is found for any of %d mutants", b.Title, len(b.Mutants))
		}
	}
}

// TestNone: Find returns nil if every execution violates something.
func TestNone(t *testing.T) {
	s := scenario.Scenario{
		Target: "semaphore", Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs"}},
		Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}}}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Repeat([]scenario.Action{{Kind: scenario.Step, Client: 1}}, 8)},
	}
	broken := *amqplock.References[0]
	broken.Design = amqplock.Design{Variant: func(p *amqplock.Protocol) amqplock.Implementation { return twice{p} }}
	var r sim.Runner
	trace := r.Trace(&broken, &s, property.Weak)
	if len(trace.Violations) == 0 {
		t.Fatal("nothing is violated")
	}
	if well := Find(&broken, trace, trace.Violations[0].Step, property.Weak); well != nil {
		t.Errorf("found %v", well.Trace.Steps)
	}
}

// twice is a mutant that opens a connection for each acquire.
type twice struct{ *amqplock.Protocol }

func (v twice) Start(m *amqplock.Machine, op lock.Op, arg uint8) {
	v.Protocol.Start(m, op, arg)
	if op == lock.Acquire {
		m.Phase, m.Link, m.Then = amqplock.Dialing, amqplock.Down, m.Phase
	}
}
