package search

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestStorages: each kind of storage leads to the same numbers of states and transitions.
func TestStorages(t *testing.T) {
	alike := standard(3, 1, 0, 2, 0)
	mixed := standard(1, 1, 1, 1, 0)
	mixed.Clients = append(mixed.Clients, mixed.Clients[0]) // clients 1 and 3 have the same workload
	for _, c := range []struct {
		name               string
		bounds             sim.Bounds
		red                Reductions
		countStates, moves int64
	}{
		{"crash", standard(2, 1, 1, 2, 1), Reductions{}, 11160, 57439},
		{"crash", standard(2, 1, 1, 2, 1), Reductions{Symmetry: true}, 5681, 28910},
		{"alike", alike, Reductions{}, 9288, 23481},
		{"alike", alike, Reductions{Symmetry: true}, 1637, 3989},
		{"mixed", mixed, AllReductions, 1913, 4866},
	} {
		for _, storage := range []Storage{Fingerprints, Exact, Bits} {
			for _, workers := range []int{1, 2} {
				r := Run(context.Background(), c.bounds, Options{Storage: storage, Reductions: c.red, Workers: workers, Array: 4 << 20})
				if r.States != c.countStates || r.Transitions != c.moves || r.Stop != Finished {
					t.Errorf("%s, %v, %v, %d workers: %d states and %d transitions, stopped %d; want %d and %d",
						c.name, c.red, storage, workers, r.States, r.Transitions, r.Stop, c.countStates, c.moves)
				}
			}
		}
	}
}

// TestCertainty: the certainty of a search fits its kind of storage.
func TestCertainty(t *testing.T) {
	run := func(o Options) *Result {
		o.Workers = 1
		return Run(context.Background(), standard(2, 1, 1, 2, 1), o)
	}
	if c := run(Options{Storage: Exact}).Certainty; c.Missed != 0 || c.Coverage != 1 {
		t.Errorf("exact: %+v", c)
	}
	if c := run(Options{}).Certainty; c.Missed <= birthday(11160, fingerprintBits) || c.Missed > 1e-10 || c.Coverage != 1 {
		t.Errorf("fingerprints: %+v", c)
	}
	roomy, tight := run(Options{Storage: Bits, Array: 4 << 20}), run(Options{Storage: Bits, Array: 1 << 10})
	if c := roomy.Certainty; c.Missed != 1 || c.Coverage < 0.999 {
		t.Errorf("a large array: %+v", c)
	}
	if c := tight.Certainty; c.Coverage > 0.9 || tight.States >= roomy.States {
		t.Errorf("an array of 1 KiB: %+v, %d of %d states", c, tight.States, roomy.States)
	}
}

func TestCertaintyString(t *testing.T) {
	for _, c := range []struct {
		of   Certainty
		want string
	}{
		{Certainty{Storage: Exact, Coverage: 1}, "every state kept whole: none is missed"},
		{Certainty{Missed: 1.2e-6, Coverage: 1}, "the probability that a state was missed is below 1.3e-06"},
		{Certainty{Storage: Bits, Missed: 1, Coverage: 0.99998}, "an estimated 2e-05 of the states come to were missed"},
	} {
		if got := c.of.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestBirthday(t *testing.T) {
	for _, c := range []struct {
		n    int64
		bits int
		want float64
	}{{0, 64, 0}, {1, 64, 0}, {2, 1, 0.5}, {3, 2, 0.75}, {1 << 32, 63, 1}} {
		if got := birthday(c.n, c.bits); got < c.want*0.999 || got > c.want*1.001 {
			t.Errorf("%d numbers of %d bits: %g, want %g", c.n, c.bits, got, c.want)
		}
	}
}

// TestCanonical: parts of clients with the same workload are sorted, even if other clients are between them.
func TestCanonical(t *testing.T) {
	op := scenario.Client{Ops: standard(1, 1, 0, 1, 0).Clients[0].Ops}
	b := standard(1, 1, 1, 1, 0)
	b.Clients = append(b.Clients, op, op)
	e := newExact(newPlan(b, AllReductions))
	want := tuple{8, 2, 2, 4, 6} // the number of each part, plus 1
	for _, s := range [][]uint32{{7, 1, 1, 3, 5}, {7, 5, 1, 3, 1}, {7, 3, 1, 1, 5}, {7, 3, 1, 5, 1}} {
		if got := e.canonical(s); got != want {
			t.Errorf("%v becomes %v, want %v", s, got, want)
		}
	}
}
