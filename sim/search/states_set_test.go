package search

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBitset: sets of numbers do what maps do.
func TestBitset(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, x := numbers(r)
		b, y := numbers(r)
		both, only := make(plainSet), make(plainSet)
		for n := range x {
			(map[bool]plainSet{true: both, false: only})[y[n]][n] = true
		}
		if got := a.and(b); !slices.Equal(slices.Collect(got.all), both.sorted()) {
			t.Errorf("seed %d: %v and %v: %v", seed, x.sorted(), y.sorted(), slices.Collect(got.all))
		}
		if got := a.without(b); !slices.Equal(slices.Collect(got.all), only.sorted()) {
			t.Errorf("seed %d: %v without %v: %v", seed, x.sorted(), y.sorted(), slices.Collect(got.all))
		}
		if got := a.exceeds(b); got != (len(only) > 0) {
			t.Errorf("seed %d: %v exceeds %v: %v", seed, x.sorted(), y.sorted(), got)
		}
		for n := range uint32(200) {
			if a.has(n) != x[n] {
				t.Errorf("seed %d: %d is in %v: %v", seed, n, x.sorted(), a.has(n))
			}
		}
		if a.count() != len(x) {
			t.Errorf("seed %d: %d in %v", seed, a.count(), x.sorted())
		}
		for n := range a.all {
			if n != x.sorted()[0] {
				t.Errorf("seed %d: %d is the first of %v", seed, n, x.sorted())
			}
			break
		}
		was, n := len(a), uint32(r.IntN(200))
		if grown := a.add(n); grown != len(a)-was || !a.has(n) {
			t.Errorf("seed %d: %d words more, told was %d", seed, len(a)-was, grown)
		}
		x[n] = true
		more := slices.ContainsFunc(y.sorted(), func(n uint32) bool { return !x[n] })
		if got := a.merge(b); got != more {
			t.Errorf("seed %d: %v has more than %v: %v", seed, y.sorted(), x.sorted(), got)
		}
		maps.Copy(x, y)
		if !slices.Equal(slices.Collect(a.all), x.sorted()) {
			t.Errorf("seed %d: merged, %v, want %v", seed, slices.Collect(a.all), x.sorted())
		}
	}
}
