package search

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/sim/search/states"
)

// bitArray stores each state as a few bits of one array, selected by the state's fingerprint. A state counts as seen if all
// of its bits are set. This may be wrong, since other states set the same bits.
type bitArray struct {
	words  []uint64
	hashes int
	set    atomic.Int64 // bits set
	n      atomic.Int64
	// If two workers reach the same state at once, only one may find it new. A fingerprint therefore selects a lock.
	locks [256]sync.Mutex
}

// newBitArray makes an array of the given size and number of hashes; 0 selects the default of each.
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

// add sets a state's bits, and reports whether the state is new. A second hash gives the distance between the bits, as in
// double hashing.
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

// coverage estimates the share of new states that the array would recognise as new, from how full it is now.
func (a *bitArray) coverage() float64 {
	fill := float64(a.set.Load()) / float64(len(a.words)*64)
	return 1 - math.Pow(fill, float64(a.hashes))
}

func (a *bitArray) size() int64    { return int64(len(a.words)) * 8 }
func (a *bitArray) count() int64   { return a.n.Load() }
func (a *bitArray) growing() int64 { return 0 }
func (a *bitArray) free()          { freeSlots(a.words) }
