package search

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/sim/search/states"
)

// bitArray stores each seen state as a few bits of one array. The state's fingerprint selects these bits. A state
// counts as seen if all of its bits are set. This can be wrong, since other states may have set the same bits.
type bitArray struct {
	words  []uint64
	hashes int
	set    atomic.Int64 // number of bits that are set
	n      atomic.Int64
	// A fingerprint selects one of these locks, so that only one of two workers that reach the same state finds it new.
	locks [256]sync.Mutex
}

// newBitArray makes an array of the given number of bytes that sets the given number of bits (hashes) for each state.
// For either, 0 selects the default.
func newBitArray(bytes int64, hashes int) *bitArray {
	if bytes <= 0 {
		bytes = DefaultArray
	}
	if hashes <= 0 {
		hashes = DefaultHashes
	}
	return &bitArray{words: newSlots(int((bytes + 7) / 8)), hashes: hashes}
}

func (a *bitArray) insert(fps []uint64, _ []uint32, fresh []bool) {
	for i, fp := range fps {
		fresh[i] = a.add(fp)
	}
}

// add sets a state's bits, and reports whether the state is new. Like double hashing, it takes the first bit from one
// hash, and the distance between the bits from a second hash.
func (a *bitArray) add(fp uint64) bool {
	l := &a.locks[fp>>56]
	l.Lock()
	defer l.Unlock()
	fresh := false
	step := states.Mix(fp + 0x9E3779B97F4A7C15)
	for range a.hashes {
		at, _ := bits.Mul64(fp, uint64(len(a.words))*64)
		if bit := uint64(1) << (at % 64); atomic.OrUint64(&a.words[at/64], bit)&bit == 0 {
			fresh = true
			a.set.Add(1)
		}
		fp += step
	}
	if fresh {
		a.n.Add(1)
	}
	return fresh
}

// coverage estimates the share of new states that the array would recognise as new, given the share of its bits that is
// set.
func (a *bitArray) coverage() float64 {
	fill := float64(a.set.Load()) / float64(len(a.words)*64)
	return 1 - math.Pow(fill, float64(a.hashes))
}

func (a *bitArray) size() int64    { return int64(len(a.words)) * 8 }
func (a *bitArray) count() int64   { return a.n.Load() }
func (a *bitArray) growing() int64 { return 0 }
func (a *bitArray) free()          { freeSlots(a.words) }
