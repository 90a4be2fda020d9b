package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/sim/search/states"
)

// TestMemo: a memo table finds exactly the keys that were added, each with its number, also after it has grown. It
// keeps results of different effects on the same part separate.
func TestMemo(t *testing.T) {
	var m memo
	var o other
	o.inert = make([]states.Set, 40)
	if _, ok := m.find(memoKey{}); ok || m.size() != 0 {
		t.Error("something is found in an empty table")
	}
	r := rand.New(rand.NewPCG(1, 2))
	kept, effects := make(map[memoKey]uint32), make(map[[2]uint32]uint32)
	for n := range uint32(6000) {
		k := memoKey{own: uint64(r.IntN(3)) << 32, rest: uint64(r.IntN(4000))}
		was, there := kept[k]
		if got, ok := m.find(k); ok != there || ok && got != was {
			t.Fatalf("%+v: %d %v, want %d %v", k, got, ok, was, there)
		}
		if !there {
			m.add(k, n)
			kept[k] = n
		}
		of := [2]uint32{uint32(r.IntN(40)), uint32(r.IntN(90))}
		to, known := effects[of]
		if got, ok := o.get(of[0], of[1]); ok != known || ok && got != to {
			t.Fatalf("%v: %d %v, want %d %v", of, got, ok, to, known)
		}
		if !known {
			to = uint32(r.IntN(90))
			if r.IntN(2) == 0 {
				to = of[1]
			}
			effects[of] = to
			o.set(of[0], of[1], to)
			o.set(of[0], of[1], to) // setting the same entry twice changes nothing
		}
	}
	words := 0
	for _, set := range o.inert {
		words += len(set)
	}
	if m.n != len(kept) || 3*m.n > 2*len(m.entries)+3 || m.size() != 24*len(m.entries) || o.size() != o.memo.size()+8*words {
		t.Errorf("%d of %d are there in %d places, %d bytes; effects take %d", m.n, len(kept), len(m.entries), m.size(), o.size())
	}
}

// TestCanonicalPlainly: the stored form of a state does not depend on the order of clients with the same workload.
// Other clients keep their places.
func TestCanonicalPlainly(t *testing.T) {
	e := &exact{stride: 6, class: []byte{0, 0, 1, 0, 1, 0}}
	r := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		state := make([]uint32, e.stride)
		for i := range state {
			state[i] = uint32(r.IntN(4))
		}
		want := tuple{0: state[0] + 1}
		for class := range byte(2) {
			var parts []uint32
			for i := 1; i < e.stride; i++ {
				if e.class[i] == class {
					parts = append(parts, state[i]+1)
				}
			}
			slices.Sort(parts)
			for i := 1; i < e.stride; i++ {
				if e.class[i] == class {
					want[i], parts = parts[0], parts[1:]
				}
			}
		}
		if got := e.canonical(state); got != want {
			t.Fatalf("%v is kept as %v, want %v", state, got, want)
		}
	}
}
