package search

import (
	"context"
	"reflect"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestWalkRepeats: the same seed gives the same walks, with one worker and with two.
func TestWalkRepeats(t *testing.T) {
	o := WalkOptions{Seed: 7, Walks: 400, Workers: 1}
	want := Walk(context.Background(), hasty(), o)
	if want.Walks != 400 || want.Steps < 4000 || want.Cut != 0 || want.States < 500 || want.Found == 0 {
		t.Fatalf("%+v", want)
	}
	for _, workers := range []int{1, 2} {
		o.Workers = workers
		if got := Walk(context.Background(), hasty(), o); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: %+v, want %+v", workers, got, want)
		}
	}
	o.Seed = 8
	if got := Walk(context.Background(), hasty(), o); got.Steps == want.Steps && got.States == want.States {
		t.Errorf("another seed makes no difference: %+v", got)
	}
}

// TestWalkStaysInside compares walks with a search of the same bounds. The walks reach no other state, and many walks
// reach at least 90 percent of the states.
func TestWalkStaysInside(t *testing.T) {
	for _, faults := range []sim.FaultBounds{{}, {Crashes: 1, Late: true}, {Drops: 1}, {Restarts: 1}, {Lost: 1}} {
		b := standard(2, 1, 0, 1, 0)
		b.Faults = faults
		whole := Run(context.Background(), b, Options{Reductions: Reductions{Symmetry: true}, Workers: 1})
		r := Walk(context.Background(), b, WalkOptions{Seed: 1, Walks: 4000, Workers: 1})
		if r.States > whole.States || 10*r.States < 9*whole.States {
			t.Errorf("%v: %d states of %d", faults, r.States, whole.States)
		}
		if r.Found&^whole.Found != 0 || r.Coverage.Exercised&^whole.Coverage.Exercised != 0 {
			t.Errorf("%v: found %b and exercised %b, where the search has %b and %b", faults, r.Found, r.Coverage.Exercised, whole.Found, whole.Coverage.Exercised)
		}
	}
}

// TestWalkUnmemoised walks a configuration in which time passes, so that memo tables cannot be used.
func TestWalkUnmemoised(t *testing.T) {
	b := standard(2, 1, 0, 1, 0)
	b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Jitter = 2 })
	r := Walk(context.Background(), b, WalkOptions{Seed: 1, Walks: 200, Workers: 1})
	if r.Found != 0 || r.Cut != 0 || !r.Coverage.Actions[scenario.Advance] {
		t.Errorf("%+v", r)
	}
}

// TestWalkActions repeats the actions of a violation in the simulated system: exactly the last action violates the
// property.
func TestWalkActions(t *testing.T) {
	r := Walk(context.Background(), hasty(), WalkOptions{Seed: 3, Walks: 400})
	if len(r.First) == 0 {
		t.Fatal("nothing is violated")
	}
	for p, actions := range r.First {
		sys := sim.NewSystem(hasty())
		var found property.Set
		for i, a := range actions {
			if found.Has(p) {
				t.Errorf("%s is violated by the first %d of %d actions", p, i, len(actions))
			}
			found |= sys.Take(a).Found
		}
		if found |= sys.Finish(); !found.Has(p) {
			t.Errorf("%s: not violated by %v", p, actions)
		}
	}
}

// TestWalkEnds: the bound of steps ends one walk, and the end of the context ends all walks.
func TestWalkEnds(t *testing.T) {
	r := Walk(context.Background(), hasty(), WalkOptions{Walks: 50, Steps: 5})
	if r.Cut != 50 || r.Steps != 250 || r.Longest != 5 {
		t.Errorf("%+v", r)
	}
	if r := Walk(searchtest.NewCountdown(10), hasty(), WalkOptions{Walks: 50}); r.Walks != 10 {
		t.Errorf("%d walks", r.Walks)
	}
}

// BenchmarkWalk measures the steps per second of random walks.
func BenchmarkWalk(b *testing.B) {
	steps := int64(0)
	for b.Loop() {
		steps += Walk(context.Background(), standard(3, 2, 1, 2, 1), WalkOptions{Walks: 100_000, Workers: 1}).Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}
