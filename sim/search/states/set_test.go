package states_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
)

// TestBitset compares sets with maps: on random contents, the same operations have the same results.
func TestBitset(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, x := searchtest.RandomSet(r)
		b, y := searchtest.RandomSet(r)
		both, only := make(searchtest.PlainSet), make(searchtest.PlainSet)
		for n := range x {
			(map[bool]searchtest.PlainSet{true: both, false: only})[y[n]][n] = true
		}
		if got := a.And(b); !slices.Equal(slices.Collect(got.All), both.Sorted()) {
			t.Errorf("seed %d: %v and %v: %v", seed, x.Sorted(), y.Sorted(), slices.Collect(got.All))
		}
		if got := a.Without(b); !slices.Equal(slices.Collect(got.All), only.Sorted()) {
			t.Errorf("seed %d: %v without %v: %v", seed, x.Sorted(), y.Sorted(), slices.Collect(got.All))
		}
		if got := a.Exceeds(b); got != (len(only) > 0) {
			t.Errorf("seed %d: %v exceeds %v: %v", seed, x.Sorted(), y.Sorted(), got)
		}
		for n := range uint32(200) {
			if a.Has(n) != x[n] {
				t.Errorf("seed %d: %d is in %v: %v", seed, n, x.Sorted(), a.Has(n))
			}
		}
		if a.Count() != len(x) {
			t.Errorf("seed %d: %d in %v", seed, a.Count(), x.Sorted())
		}
		for n := range a.All {
			if n != x.Sorted()[0] {
				t.Errorf("seed %d: %d is the first of %v", seed, n, x.Sorted())
			}
			break
		}
		was, n := len(a), uint32(r.IntN(200))
		if grown := a.Add(n); grown != len(a)-was || !a.Has(n) {
			t.Errorf("seed %d: %d words more, told was %d", seed, len(a)-was, grown)
		}
		x[n] = true
		more := slices.ContainsFunc(y.Sorted(), func(n uint32) bool { return !x[n] })
		if got := a.Merge(b); got != more {
			t.Errorf("seed %d: %v has more than %v: %v", seed, y.Sorted(), x.Sorted(), got)
		}
		maps.Copy(x, y)
		if !slices.Equal(slices.Collect(a.All), x.Sorted()) {
			t.Errorf("seed %d: merged, %v, want %v", seed, slices.Collect(a.All), x.Sorted())
		}
	}
}
