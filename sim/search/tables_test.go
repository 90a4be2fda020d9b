package search

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainSet is a set as a bitset is to be.
type plainSet map[uint32]bool

// numbers are random ones, some of them at the edges of words.
func numbers(r *rand.Rand) (b bitset, set plainSet) {
	set = make(plainSet)
	for range r.IntN(6) {
		n := []uint32{0, 1, 62, 63, 64, 65, 127, 128, 191}[r.IntN(9)]
		set[n] = true
		b.add(n)
	}
	return b, set
}

func (s plainSet) sorted() []uint32 { return slices.Sorted(maps.Keys(s)) }

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

// TestMemo: what was added to a table is found in it with the number that it was added with, and nothing else is, also
// when it has grown; and nothing that an effect does to a part is taken for what it does to another.
func TestMemo(t *testing.T) {
	var m memo
	var o other
	o.inert = make([]bitset, 40)
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
			o.set(of[0], of[1], to) // again, as two workers' others may
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

// TestInfluence: what effects make of parts and roles is what they were seen to make of them at first; whatever else is
// seen is told.
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
		set, x := numbers(r)
		var open, image plainSet = make(plainSet), make(plainSet)
		same := true
		for n := range x {
			to, known := made[n]
			if !known {
				open[n] = true
				continue
			}
			image[to], same = true, same && to == n
		}
		if got := f.unknown(set); !slices.Equal(slices.Collect(got.all), open.sorted()) {
			t.Errorf("seed %d: %v is not known of %v, want %v", seed, slices.Collect(got.all), x.sorted(), open.sorted())
		}
		for n := range open {
			set[n/64] &^= 1 << (n % 64)
		}
		if got, is := f.image(set); is != same || !slices.Equal(slices.Collect(got.all), image.sorted()) {
			t.Errorf("seed %d: %v becomes %v, the same %v; want %v", seed, x.sorted(), slices.Collect(got.all), is, image.sorted())
		}
	}
}

// TestCanonicalPlainly: a state kept whole is the same in whatever order the parts of clients of one workload stand, and those of
// others stay where they are.
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
