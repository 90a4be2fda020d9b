package sim_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
)

// TestKept: every action leads from a state that was saved with Keep to the same state as from its loaded image. Return
// then restores the saved state.
func TestKept(t *testing.T) {
	for _, b := range lock.Backends() {
		t.Run(b.Title, func(t *testing.T) {
			t.Parallel()
			targets := b.Targets()
			for i := range 4 * len(targets) {
				keeps(t, targets[i%len(targets)], i)
			}
		})
	}
}

func keeps(t *testing.T, target *lock.Target, i int) {
	r := rand.New(rand.NewPCG(43, uint64(i)))
	bounds := randomBounds(target, r, i)
	if bounds.Faults.Clocks == sim.AnyNumber {
		bounds.Faults.Clocks = 2
	}
	on, loaded := sim.NewSystem(bounds), sim.NewSystem(bounds)
	for range 30 {
		parts := partsOf(on)
		on.Load(parts[0], parts[1:])
		all := enabled(on)
		if !on.Keep() || len(all) == 0 {
			return
		}
		for _, a := range all {
			x := on.Step(a)
			after := partsOf(on)
			loaded.Load(parts[0], parts[1:])
			y := loaded.Take(a)
			if x.Found != y.Found || x.Exercised != y.Exercised || x.Exchange != y.Exchange || x.Op != y.Op || x.Completed != y.Completed || x.Result != y.Result || x.Timed != y.Timed {
				t.Fatalf("%s, %d, %v: %+v, and once it is loaded %+v", target.Name, i, a, x, y)
			}
			if there := partsOf(loaded); !slices.EqualFunc(after, there, slices.Equal) {
				t.Fatalf("%s, %d, %v: leads to\n%q, and once it is loaded to\n%q", target.Name, i, a, after, there)
			}
			if on.Return(); !slices.EqualFunc(partsOf(on), parts, slices.Equal) {
				t.Fatalf("%s, %d, %v: returns to\n%q, not\n%q", target.Name, i, a, partsOf(on), parts)
			}
		}
		on.Step(all[r.IntN(len(all))])
	}
}

// partsOf returns the image of the state: its shared part, and the part of each client.
func partsOf(s *sim.System) [][]byte {
	parts := [][]byte{s.Shared(nil)}
	for n := 1; n <= s.Clients(); n++ {
		parts = append(parts, s.Client(n, nil))
	}
	return parts
}
