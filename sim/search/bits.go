package search

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/sim/search/states"
)

// bitArray stores a state as a few bits of one array, which its fingerprint selects. A state counts as seen if all of
// its bits are set, which may be wrong.
type bitArray struct {
	words  []uint64
	hashes int
	set    atomic.Int64 // bits set
	n      atomic.Int64
	// Two workers that reach one state at once must not both find it new: they share a lock.
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

// add sets a state's bits. They lie apart by a second hash, as in double hashing.
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

// coverage estimates the share of new states that the array takes for new at its present fill.
func (a *bitArray) coverage() float64 {
	fill := float64(a.set.Load()) / float64(len(a.words)*64)
	return 1 - math.Pow(fill, float64(a.hashes))
}

func (a *bitArray) size() int64    { return int64(len(a.words)) * 8 }
func (a *bitArray) count() int64   { return a.n.Load() }
func (a *bitArray) growing() int64 { return 0 }
func (a *bitArray) free()          { freeSlots(a.words) }
