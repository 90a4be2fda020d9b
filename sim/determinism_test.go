package sim_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestDeterminism: each scenario gives the same trace and the same diagram in a fresh runner and in one that has run
// others before.
func TestDeterminism(t *testing.T) {
	for _, target := range amqplock.References {
		source := sim.NewSource(sim.Space{Target: target}, 11)
		again := sim.NewSource(sim.Space{Target: target}, 11)
		var used sim.Runner
		for i := range 300 {
			var fresh sim.Runner
			a, b := source.Scenario(i), again.Scenario(i)
			one, two := fresh.Trace(target, &a, property.Weak), used.Trace(target, &b, property.Weak)
			if !reflect.DeepEqual(one, two) || !bytes.Equal(drawn(t, one), drawn(t, two)) {
				t.Fatalf("%s, scenario %d: another trace the second time", target.Name, i)
			}
		}
	}
}

// TestReplay: replaying the actions of a trace gives the same steps and the same history.
func TestReplay(t *testing.T) {
	target := amqplock.References[0]
	source := sim.NewSource(sim.Space{Target: target}, 12)
	var r sim.Runner
	for i := range 500 {
		s := source.Scenario(i)
		first := r.Trace(target, &s, property.Weak)
		again := sim.Replay(first)
		second := r.Trace(target, &again, property.Weak)
		if !reflect.DeepEqual(first.Steps, second.Steps) || !reflect.DeepEqual(first.History, second.History) {
			t.Fatalf("scenario %d goes otherwise when it is replayed", i)
		}
	}
}

// TestEverythingHappens: 3,000 scenarios meet every coverage point, and put to the test every property that needs no
// lease, except linearizability and no-crash.
func TestEverythingHappens(t *testing.T) {
	target := amqplock.References[0]
	source := sim.NewSource(sim.Space{Target: target}, 13)
	var r sim.Runner
	var seen sim.Seen
	var exercised property.Set
	for i := range 3000 {
		s := source.Scenario(i)
		r.Run(target, &s)
		seen |= r.Seen
		exercised |= r.Monitor.Exercised
	}
	for k := range sim.CoveragePoints {
		if !seen.Has(k) {
			t.Errorf("never: %s", k)
		}
	}
	for p := range property.NoCrash { // later properties concern panics and leases, which are absent here
		if p != property.Linearizable && !exercised.Has(p) {
			t.Errorf("never put to the test: %s", p)
		}
	}
}

// TestPCT: the client with the highest priority runs until its priority drops, and then the client with the next one.
func TestPCT(t *testing.T) {
	s := scenario.Scenario{
		Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: 3}},
		Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{2, 3, 1}, Changes: []uint16{3}},
	}
	for range 3 {
		s.Clients = append(s.Clients, scenario.Client{Ops: []scenario.Operation{{Op: lock.Count}}})
	}
	var r sim.Runner
	var order []uint8
	for _, step := range r.Trace(amqplock.References[0], &s, property.Weak).Steps {
		if n := len(order); n == 0 || order[n-1] != step.Action.Client {
			order = append(order, step.Action.Client)
		}
	}
	if want := []uint8{2, 3, 1, 2}; !reflect.DeepEqual(order, want) {
		t.Errorf("clients ran in the order %v, expected %v", order, want)
	}
}

func drawn(t *testing.T, trace *scenario.Trace) []byte {
	var b bytes.Buffer
	if err := draw.Draw(&b, trace, style.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
