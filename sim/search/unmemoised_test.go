package search_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// TestUnmemoised: a search finds out on the way that time matters, and runs without memo tables. It can still be
// resumed, and random walks of the same configuration work.
func TestUnmemoised(t *testing.T) {
	pass := []scenario.Operation{call(lock.Acquire, 0), call(lock.Release, 0)}
	b := sim.Bounds{
		Target: mutant.Named("holder-expires"), Options: amqplock.DefaultOptions(),
		Locks:   []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients: []scenario.Client{{Ops: pass}, {Ops: pass}}, Properties: property.Applicable(lock.Semaphore),
	}
	o := search.Options{Reductions: search.AllReductions}
	whole := search.Run(context.Background(), b, o)
	if whole.Stop != search.Finished || !whole.Coverage.Actions[scenario.Advance] {
		t.Fatalf("stopped %d, time passing: %v", whole.Stop, whole.Coverage.Actions[scenario.Advance])
	}
	for _, depth := range []int{1, 4, 12, 20} {
		first := o
		first.Depth, first.Checkpoint = depth, filepath.Join(t.TempDir(), "checkpoint")
		search.Run(context.Background(), b, first)
		rest := o
		rest.Resume = first.Checkpoint
		r := search.Run(context.Background(), b, rest)
		if r.Err != nil || r.States != whole.States || r.Transitions != whole.Transitions || r.Found != whole.Found || r.Cycles != whole.Cycles {
			t.Errorf("resumed at depth %d: %d states, %d transitions, found %b, %s cycles: %v; want %d, %d, %b, %s",
				depth, r.States, r.Transitions, r.Found, r.Cycles, r.Err, whole.States, whole.Transitions, whole.Found, whole.Cycles)
		}
	}
	w := search.Walk(context.Background(), b, search.WalkOptions{Walks: 500})
	if w.Walks != 500 || w.States > whole.States || w.Found&^whole.Found != 0 || !w.Coverage.Actions[scenario.Advance] {
		t.Errorf("walks: %+v, where there are %d states", w, whole.States)
	}
}
