package search_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

func call(op lock.Op, arg uint8) scenario.Operation { return scenario.Operation{Op: op, Arg: arg} }

// unbounded is a configuration that judges only mutual exclusion. Without other properties the monitor does not count
// attempts, so that an endless retry returns to an earlier state.
func unbounded(target *lock.Target, clients ...[]scenario.Operation) sim.Bounds {
	b := sim.Bounds{
		Target: target, Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
		Properties: property.Set(0).With(property.MutualExclusion),
	}
	for _, ops := range clients {
		b.Clients = append(b.Clients, scenario.Client{Ops: ops})
	}
	return b
}

// TestCycles distinguishes locks with unbounded retries from others, and fair cycles from those that starve a client.
func TestCycles(t *testing.T) {
	var (
		hold    = []scenario.Operation{call(lock.Acquire, 0)}
		pass    = []scenario.Operation{call(lock.Acquire, 0), call(lock.Release, 0)}
		wait    = []scenario.Operation{call(lock.Wait, 1)}
		forever = mutant.Named("wait-forever")
		late    = sim.FaultBounds{Crashes: 1, Late: true}
	)
	for _, c := range []struct {
		name   string
		bounds sim.Bounds
		faults sim.FaultBounds
		want   search.Cycles
	}{
		{"the reference retries so often", unbounded(amqplock.References[0], pass, pass), sim.FaultBounds{}, search.NoCycles},
		{"the reference waits so long", unbounded(amqplock.References[0], hold, wait), late, search.NoCycles},
		// There is no cycle: each retry needs a refusal, a refusal needs another client's claim, and the number of
		// claims is bounded.
		{"retries without a bound", unbounded(mutant.Named("retries-forever"), pass, pass), sim.FaultBounds{}, search.NoCycles},
		{"waiting for who never lets go", unbounded(forever, hold, wait), sim.FaultBounds{}, search.FairCycles},
		{"waiting for who lets go in the end", unbounded(forever, pass, wait), sim.FaultBounds{}, search.UnfairCycles},
		{"waiting for who may die holding it", unbounded(forever, pass, wait), late, search.UnfairCycles},
		{"two waiting", unbounded(forever, hold, wait, wait), sim.FaultBounds{}, search.FairCycles},
	} {
		for _, storage := range []search.Storage{search.Fingerprints, search.Exact} {
			c.bounds.Faults = c.faults
			r := search.Run(context.Background(), c.bounds, search.Options{Reductions: search.AllReductions, Storage: storage})
			if r.Cycles != c.want || (r.Livelock != nil) != (c.want == search.FairCycles) {
				t.Errorf("%s: %s cycles, %v; want %s", c.name, r.Cycles, r.Livelock, c.want)
			}
			if r.Livelock != nil {
				around(t, c.name, c.bounds, r.Livelock)
			}
		}
	}
}

// around executes a fair cycle in the simulated system. The system returns to the same state, and each client that can
// always take a step takes one.
func around(t *testing.T, name string, b sim.Bounds, l *search.FairCycle) {
	t.Helper()
	sys := sim.NewSystem(b)
	image := func() string {
		all := sys.Shared(nil)
		for c := range b.Clients {
			all = sys.Client(c+1, all)
		}
		return string(all)
	}
	for _, a := range l.Prefix {
		sys.Take(a)
	}
	before := image()
	held := make(map[uint8]bool) // clients that could take a step in every state so far, and have taken none
	for c := range b.Clients {
		held[uint8(c+1)] = true
	}
	for _, a := range l.Cycle {
		for c := range held {
			if len(sys.Actions(int(c), nil)) == 0 {
				delete(held, c)
			}
		}
		sys.Take(a)
		delete(held, a.Client)
	}
	if len(l.Cycle) == 0 || image() != before {
		t.Errorf("%s: no cycle: %v", name, l)
	}
	if len(held) > 0 {
		t.Errorf("%s: not fair, %v are never let go on: %v", name, held, l)
	}
}

// TestCyclesUnknown: the result of an incomplete or approximate search is CyclesUnknown.
func TestCyclesUnknown(t *testing.T) {
	hold := []scenario.Operation{call(lock.Acquire, 0)}
	b := unbounded(mutant.Named("wait-forever"), hold, []scenario.Operation{call(lock.Wait, 1)})
	for _, o := range []search.Options{{Depth: 3}, {Storage: search.Bits, Array: 1 << 20}} {
		if r := search.Run(context.Background(), b, o); r.Cycles != search.CyclesUnknown || r.Livelock != nil {
			t.Errorf("%+v: %s cycles", o, r.Cycles)
		}
	}
}
