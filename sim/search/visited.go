package search

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/sim/search/states"
)

// visited is the set of seen states. It is safe for concurrent use.
type visited interface {
	// insert adds states, each given by its fingerprint and its numbers of parts. It sets fresh[i] if state i is new.
	insert(fps []uint64, states []uint32, fresh []bool)
	size() int64    // bytes in use
	growing() int64 // bytes that the next growth will add, or 0 if no growth is near
	count() int64   // states in the set
	free()          // frees the memory; the set is not used afterwards
	save(*states.Encoder)
	restore(*states.Decoder) // reads saved states into an empty set
}

// fingerprints stores 64 bits for each state: a hash table with open addressing and linear probing, at most four fifths
// full. Look-ups and insertions are atomic; only growth takes a lock exclusively. A fingerprint's place in the table
// increases with its value, so one pass over the old table fills a larger one.
type fingerprints struct {
	grow  sync.RWMutex
	slots []uint64
	n     atomic.Int64
}

// firstSlots is the number of slots of a new, empty table.
const firstSlots = 1 << 16

func newFingerprints() *fingerprints { return &fingerprints{slots: newSlots(firstSlots)} }

func (f *fingerprints) insert(fps []uint64, _ []uint32, fresh []bool) {
	if f.n.Load()+int64(len(fps)) > int64(len(f.slots))/5*4 {
		f.ready()
	}
	f.grow.RLock()
	defer f.grow.RUnlock()
	for _, fp := range fps { // prefetch: these loads overlap, and add below finds the slots in the processor's cache
		_ = atomic.LoadUint64(&f.slots[f.place(fp)])
	}
	added := 0
	for i, fp := range fps {
		fresh[i] = f.add(fp)
		if fresh[i] {
			added++
		}
	}
	f.n.Add(int64(added))
}

// place returns the first slot in which a fingerprint is looked for.
func (f *fingerprints) place(fp uint64) uint64 {
	hi, _ := bits.Mul64(fp, uint64(len(f.slots)))
	return hi
}

func (f *fingerprints) add(fp uint64) bool {
	for at := f.place(fp); ; {
		switch v := atomic.LoadUint64(&f.slots[at]); v {
		case fp:
			return false
		case 0:
			if atomic.CompareAndSwapUint64(&f.slots[at], 0, fp) {
				return true
			}
			continue // another worker has just filled the slot: read it again
		}
		if at++; at == uint64(len(f.slots)) {
			at = 0
		}
	}
}

func (f *fingerprints) ready() {
	f.grow.Lock()
	defer f.grow.Unlock()
	if f.n.Load() < int64(len(f.slots))/10*7 {
		return
	}
	old := f.slots
	f.slots = newSlots(len(old) / 5 * 8)
	for chunk := range slices.Chunk(old, dropChunk) {
		for _, fp := range chunk {
			if fp != 0 {
				f.add(fp)
			}
		}
		dropSlots(chunk)
	}
	freeSlots(old)
}

// dropChunk is the number of slots of an old table that are moved to a larger one at a time. A slot's place increases
// with its value, so the larger table fills from its beginning while the old one is freed. Both together take little
// more memory than the larger one alone.
const dropChunk = 1 << 18

func (f *fingerprints) size() int64  { return int64(len(f.slots)) * 8 }
func (f *fingerprints) count() int64 { return f.n.Load() }
func (f *fingerprints) free()        { freeSlots(f.slots) }

// growing returns the bytes that the next table adds to the size of this one if growth is near, or 0. The old table is
// freed while its slots are moved.
func (f *fingerprints) growing() int64 {
	if f.n.Load() < int64(len(f.slots))/4*3 {
		return 0
	}
	return f.size() / 5 * 3
}

// recent is a small cache of fingerprints of recently reached states. The commands of two clients often lead to the
// same state in either order. A third of all states is therefore reached again soon, and the cache saves looking them
// up.
type recent [1 << recentBits]uint64

const recentBits = 11

// met reports whether a fingerprint is in the cache, and adds it.
func (r *recent) met(fp uint64) bool {
	at := &r[fp>>(64-recentBits)]
	known := *at == fp
	*at = fp
	return known
}
