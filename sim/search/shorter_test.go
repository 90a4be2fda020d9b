package search

import (
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestShorter: Shorter finds an execution that is as short as that of a search without reductions, and is certain that
// none is shorter.
func TestShorter(t *testing.T) {
	remove := scenario.Operation{Op: lock.Remove, Arg: 1}
	add := scenario.Operation{Op: lock.Add, Arg: 1}
	acquire := scenario.Operation{Op: lock.Acquire}
	for _, c := range []struct {
		name     string
		property property.Property
		steps    int
		slots    uint8
		option   [2]string
		faults   sim.FaultBounds
		clients  [][]scenario.Operation
	}{
		{"two administrators", property.ContiguousSlots, 10, 2, [2]string{"admin-mutex", "false"}, sim.FaultBounds{}, [][]scenario.Operation{{remove, add}, {remove, add}}},
		{"one adds and one removes", property.Progress, 7, 1, [2]string{"admin-mutex", "false"}, sim.FaultBounds{}, [][]scenario.Operation{{acquire}, {add}, {remove}}},
		{"a crash", property.ContiguousSlots, 7, 3, [2]string{"order", "ascending"}, sim.FaultBounds{Crashes: 1, Late: true}, [][]scenario.Operation{{{Op: lock.Remove, Arg: 2}}}},
		{"a scan from any number", property.Progress, 10, 2, [2]string{"restart", "any"}, sim.FaultBounds{}, [][]scenario.Operation{{acquire}, {acquire}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := sim.Bounds{
				Target: amqplock.References[0], Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: c.slots}},
				Faults: c.faults, Properties: 1 << c.property,
			}
			b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Pipeline = 0 })
			var err error
			if b.Options, err = b.Options.With(c.option[0], c.option[1]); err != nil {
				t.Fatal(err)
			}
			for _, ops := range c.clients {
				b.Clients = append(b.Clients, scenario.Client{Ops: ops})
			}
			if s := Shorter(t.Context(), b, c.property, scenario.MaxSteps, 1<<20); len(s.Actions) != c.steps || !s.Certain {
				t.Fatalf("%d steps, certain %v; expected %d", len(s.Actions), s.Certain, c.steps)
			}
			if s := Shorter(t.Context(), b, c.property, c.steps, 1<<20); s.Actions != nil || !s.Certain {
				t.Errorf("%d steps after %d, certain %v", len(s.Actions), c.steps, s.Certain)
			}
			for _, unmemoised := range []bool{false, true} { // the bound is the needed number of states, or one less
				searched := func(states int) (bool, int) {
					b := b
					b.Every = true
					s := newCounterexampleSearch(b, Reductions{Symmetry: true}, 1<<c.property, nil, unmemoised)
					return s.upTo(t.Context(), c.steps, states), len(s.links)
				}
				_, states := searched(1 << 20)
				enough, _ := searched(states)
				less, _ := searched(states - 1)
				if !enough || less {
					t.Errorf("of %d states, as many are enough: %v, and one fewer: %v", states, enough, less)
				}
			}
			if Shorter(t.Context(), b, c.property, c.steps, 2).Certain {
				t.Error("two states are enough to be certain")
			}
			b.Every = true
			plain, _ := Counterexamples(t.Context(), b, Reductions{}, 1<<c.property, nil)
			if len(plain[c.property]) != c.steps {
				t.Errorf("%d steps without reductions, expected %d", len(plain[c.property]), c.steps)
			}
		})
	}
}

// TestDeathIsOneStep: a client that crashes on a reply, with its death detected at once, takes one step and not two.
func TestDeathIsOneStep(t *testing.T) {
	b := sim.Bounds{
		Target: amqplock.References[0], Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
		Faults: sim.FaultBounds{Crashes: 1, Late: true}, Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}}}},
		Properties: property.Applicable(lock.Semaphore),
	}
	for _, every := range []bool{false, true} {
		b.Every = every
		want := map[scenario.Action]bool{
			{Kind: scenario.CrashReply, Client: 1}: every, {Kind: scenario.CrashReply, Client: 1, Late: true}: every,
			{Kind: scenario.CrashBefore, Client: 1}: every, {Kind: scenario.CrashBefore, Client: 1, Late: true}: true,
		}
		got := make(map[scenario.Action]bool)
		for _, a := range sim.NewSystem(b).Actions(1, nil) {
			got[a] = true
		}
		for a, there := range want {
			if got[a] != there {
				t.Errorf("every %v: %s is there: %v", every, a, got[a])
			}
		}
	}
}
