package anynumber

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
)

// TestInfluence: the first recorded result of an effect on a part or role stays. Recording a different result returns
// false.
func TestInfluence(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := &influence{to: make(map[uint32]uint32), roles: make(map[uint32]uint32)}
		made, became := make(map[uint32]uint32), make(map[uint32]uint32)
		for range 60 {
			part, to := uint32(r.IntN(70)), uint32(r.IntN(4))
			if r.IntN(2) == 0 {
				to = part
			}
			was, known := made[part]
			if got, ok := f.get(part); ok != known || got != was {
				t.Fatalf("seed %d: of %d becomes %d %v, want %d %v", seed, part, got, ok, was, known)
			}
			if got := f.set(part, to); got != (!known || was == to) {
				t.Fatalf("seed %d: %d may become %d: %v, after %d %v", seed, part, to, got, was, known)
			}
			if !known {
				made[part] = to
			}
			role := part % 5
			was, known = became[role]
			if got := f.assign(role, to); got != (!known || was == to) {
				t.Fatalf("seed %d: role %d may become %d: %v, after %d %v", seed, role, to, got, was, known)
			}
			became[role] = to
		}
		set, x := searchtest.RandomSet(r)
		var open, image searchtest.PlainSet = make(searchtest.PlainSet), make(searchtest.PlainSet)
		same := true
		for n := range x {
			to, known := made[n]
			if !known {
				open[n] = true
				continue
			}
			image[to], same = true, same && to == n
		}
		if got := f.unknown(set); !slices.Equal(slices.Collect(got.All), open.Sorted()) {
			t.Errorf("seed %d: %v is not known of %v, want %v", seed, slices.Collect(got.All), x.Sorted(), open.Sorted())
		}
		for n := range open {
			set[n/64] &^= 1 << (n % 64)
		}
		if got, is := f.image(set); is != same || !slices.Equal(slices.Collect(got.All), image.Sorted()) {
			t.Errorf("seed %d: %v becomes %v, the same %v; want %v", seed, x.Sorted(), slices.Collect(got.All), is, image.Sorted())
		}
	}
}
