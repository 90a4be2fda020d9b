package search

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim/search/states"
)

// tuple is a state as numbers: first the number of its shared part, then the number of each client's part.
type tuple [lock.MaxClients + 1]uint32

// exact stores whole states as the numbers of their parts. It sorts the parts of clients with the same workload.
type exact struct {
	plan   *plan
	stride int
	class  []byte
	n      atomic.Int64
	bytes  atomic.Int64
	shards [64]exactShard
}

// exactShard is a separate hash table, with open addressing and linear probing. It is at most three quarters full.
type exactShard struct {
	mu    sync.Mutex
	slots []uint32 // stride numbers for each state, each plus 1; 0 marks a free place
	n     int
}

// firstTuples is the number of states that a new shard has room for.
const firstTuples = 64

func newExact(p *plan) *exact {
	e := &exact{plan: p, stride: p.stride, class: p.class}
	for i := range e.shards {
		e.shards[i].slots = make([]uint32, firstTuples*e.stride)
		e.bytes.Add(int64(4 * firstTuples * e.stride))
	}
	return e
}

func (e *exact) insert(_ []uint64, states []uint32, fresh []bool) {
	for i := range fresh {
		fresh[i] = e.add(e.canonical(states[i*e.stride : (i+1)*e.stride]))
	}
}

func (e *exact) add(t tuple) bool {
	slot := t[:e.stride]
	h := hashTuple(slot)
	s := &e.shards[h>>58]
	s.mu.Lock()
	defer s.mu.Unlock()
	if 4*(s.n+1)*e.stride > 3*len(s.slots) {
		e.bytes.Add(int64(4 * len(s.slots)))
		s.double(e.stride)
	}
	if !s.put(h, slot) {
		return false
	}
	s.n++
	e.n.Add(1)
	return true
}

// canonical returns the form in which a state is stored. The parts of clients of the same class are sorted, and each
// number is increased by 1.
func (e *exact) canonical(state []uint32) (t tuple) {
	copy(t[:], state)
	for c := 2; c < e.stride; c++ {
		for at, d := c, c-1; d > 0; d-- { // clients of the same class need not be adjacent
			if e.class[d] == e.class[at] && t[d] > t[at] {
				t[d], t[at] = t[at], t[d]
				at = d
			}
		}
	}
	for i := range t[:e.stride] {
		t[i]++
	}
	return t
}

// hashTuple is the hash of a state, which selects its place in a table.
func hashTuple(t []uint32) (h uint64) {
	for _, n := range t {
		h = states.Mix(h ^ uint64(n))
	}
	return h
}

// put adds a state, and reports whether it is new.
func (s *exactShard) put(h uint64, t []uint32) bool {
	n := uint64(len(s.slots) / len(t))
	for at := h % n; ; at = (at + 1) % n {
		slot := s.slots[at*uint64(len(t)):][:len(t)]
		switch {
		case slot[0] == 0:
			copy(slot, t)
			return true
		case slices.Equal(slot, t):
			return false
		}
	}
}

func (s *exactShard) double(stride int) {
	old := s.slots
	s.slots = make([]uint32, 2*len(old))
	for t := range slices.Chunk(old, stride) {
		if t[0] != 0 {
			s.put(hashTuple(t), t)
		}
	}
}

func (e *exact) size() int64  { return e.bytes.Load() }
func (e *exact) count() int64 { return e.n.Load() }
func (e *exact) free()        {} // the garbage collector frees the memory

// growing returns the bytes that the next growth adds: about the size of one shard, since only one shard grows at a
// time.
func (e *exact) growing() int64 { return e.size() / int64(len(e.shards)) }
