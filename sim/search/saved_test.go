package search

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/sim/search/states"
)

// TestDamagedState: each part of a saved state must exist, and must belong to a client with the right workload.
func TestDamagedState(t *testing.T) {
	b := standard(2, 1, 1, 1, 1) // two clients with the same workload, and an administrator
	s := newSearch(context.Background(), b, Options{Workers: 1, Reductions: Reductions{Symmetry: true}})
	defer s.seen.free()
	good := slices.Clone(s.workers[0].initial())
	shared, clients := s.shared.Len(), s.clients.Len()
	for name, c := range map[string]struct {
		change func(t []uint32)
		ok     bool
	}{
		"as it is":                     {func([]uint32) {}, true},
		"clients of one workload":      {func(t []uint32) { t[1], t[2] = t[2], t[1] }, true},
		"no such shared part":          {func(t []uint32) { t[0] = shared }, false},
		"no such part, first":          {func(t []uint32) { t[1] = clients }, false},
		"no such part, last":           {func(t []uint32) { t[3] = clients }, false},
		"another's part, first":        {func(t []uint32) { t[1] = t[3] }, false},
		"another's part, in the midst": {func(t []uint32) { t[2] = t[3] }, false},
		"another's part, last":         {func(t []uint32) { t[3] = t[1] }, false},
	} {
		state := slices.Clone(good)
		c.change(state)
		err := searchtest.Reread(t, func(e *states.Encoder) { e.Tuple(state) }, func(d *states.Decoder) { readTuple(d, make([]uint32, len(state)), s.plan) })
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedVisited: a saved set of seen states is refused if it has a state twice.
func TestDamagedVisited(t *testing.T) {
	b := standard(2, 1, 0, 1, 0)
	for name, c := range map[string]struct {
		fps []uint64
		ok  bool
	}{
		"none": {nil, true}, "one": {[]uint64{7}, true}, "two": {[]uint64{7, 1 << 63}, true}, "twice": {[]uint64{7, 8, 7}, false}, "no state": {[]uint64{7, 0}, false},
	} {
		f := newFingerprints()
		err := searchtest.Reread(t, func(e *states.Encoder) {
			e.U64(uint64(len(c.fps)))
			for _, fp := range c.fps {
				e.U64(fp)
			}
		}, f.restore)
		if (err == nil) != c.ok || c.ok && f.count() != int64(len(c.fps)) {
			t.Errorf("fingerprints, %s: %v, %d", name, err, f.count())
		}
		f.free()
	}
	s := newSearch(context.Background(), b, Options{Workers: 1, Storage: Exact})
	state := s.workers[0].initial()
	for n := range 3 {
		x := newExact(s.plan)
		err := searchtest.Reread(t, func(e *states.Encoder) {
			e.U64(uint64(n))
			for range n {
				e.Tuple(state)
			}
		}, x.restore)
		if (err == nil) != (n < 2) || n < 2 && x.count() != int64(n) {
			t.Errorf("exact, %d times: %v, %d", n, err, x.count())
		}
	}
	a, read := newBitArray(64, 3), newBitArray(64, 3)
	for fp := range uint64(20) {
		a.add(states.Mix(fp))
	}
	if err := searchtest.Reread(t, a.save, read.restore); err != nil || !slices.Equal(a.words, read.words) || a.set.Load() != read.set.Load() || a.count() != read.count() {
		t.Errorf("bits: %v, %d of %d and %d of %d", err, read.count(), a.count(), read.set.Load(), a.set.Load())
	}
}

// TestDamagedLinks: a saved link is refused unless both of its parts exist.
func TestDamagedLinks(t *testing.T) {
	p := &plan{clients: states.NewTable()}
	p.clients.Number([]byte("a"), func() states.Part { return states.Part{} })
	p.clients.Number([]byte("b"), func() states.Part { return states.Part{} })
	for _, k := range []uint64{0, 1, 1 << 32, 1<<32 | 1, 2, 2 << 32, math.MaxUint64} {
		err := searchtest.Reread(t, func(e *states.Encoder) { links{k: {}}.save(e) }, func(d *states.Decoder) { readLinks(d, p) })
		if (err == nil) != (uint32(k) < 2 && k>>32 < 2) {
			t.Errorf("a link %x: %v", k, err)
		}
	}
}

// TestFirstErrorStays: resuming from a checkpoint that is cut off or cannot be read returns an error.
func TestFirstErrorStays(t *testing.T) {
	small := standard(1, 1, 0, 1, 0)
	for _, o := range []Options{{}, {Storage: Exact}, {Storage: Bits, Array: 64}} {
		o.Workers = 1
		searchtest.CutOff(t, o.Storage.String(), written(t, small, o), checkpointMagic, func(d *states.Decoder) error {
			s := newSearch(t.Context(), small, o)
			defer s.seen.free()
			return s.decode(d)
		})
	}
}
