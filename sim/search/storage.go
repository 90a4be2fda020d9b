package search

import (
	"fmt"
	"math"
)

// Storage selects how seen states are stored.
type Storage uint8

// The kinds of storage.
const (
	// Fingerprints stores a 64-bit hash of each state. Of several states with the same hash, only the first is visited.
	Fingerprints Storage = iota
	// Exact stores whole states instead of hashes, so that no state is missed.
	Exact
	// Bits sets a few bits for each state in one array of fixed size, as Spin does with -DBITSTATE. It is for
	// configurations whose states do not fit into memory. The fuller the array is, the more states are missed.
	Bits
)

var storageNames = [...]string{"fingerprints", "exact", "bits"}

// String returns the name of the kind of storage.
func (s Storage) String() string { return storageNames[s] }

// MarshalText implements [encoding.TextMarshaler]: it returns the name of the kind of storage.
func (s Storage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]: it parses the name of a kind of storage.
func (s *Storage) UnmarshalText(text []byte) error {
	for i, n := range storageNames {
		if n == string(text) {
			*s = Storage(i)
			return nil
		}
	}
	return fmt.Errorf("storage %q: expected one of %q", text, storageNames)
}

// The defaults of the storage Bits: the size of its array in bytes, and the number of bits that each state sets.
const (
	DefaultArray  = 64 << 20
	DefaultHashes = 3
)

// newVisited returns an empty set of states for the storage that the options select.
func newVisited(p *plan, o *Options) visited {
	switch o.Storage {
	case Exact:
		return newExact(p)
	case Bits:
		return newBitArray(o.Array, o.Hashes)
	}
	return newFingerprints()
}

// Certainty says how likely it is that the search missed a state.
type Certainty struct {
	Storage Storage
	// Missed is an upper bound of the probability that any state was missed, if the hash is ideal. It is 0 for Exact,
	// and 1 for Bits, which misses states in order to save memory.
	Missed float64
	// Coverage estimates the share of the reached states that were recognised as new, from how full the array is at the
	// end. It does not count states that can only be reached through missed ones. It is 1 unless Storage is Bits.
	Coverage float64
}

// String returns the certainty as text.
func (c Certainty) String() string {
	switch c.Storage {
	case Exact:
		return "every state kept whole: none is missed"
	case Bits:
		return fmt.Sprintf("an estimated %.2g of the states come to were missed", 1-c.Coverage)
	}
	return fmt.Sprintf("the probability that a state was missed is below %.2g", 1.05*c.Missed) // rounded up
}

// certainty computes the search's certainty.
func (s *search) certainty() Certainty {
	c := Certainty{Storage: s.opts.Storage, Coverage: 1}
	switch seen := s.seen.(type) {
	case *exact:
	case *bitArray:
		c.Missed, c.Coverage = 1, seen.coverage()
	default:
		c.Missed = min(1, birthday(seen.count(), fingerprintBits)+s.lookups())
	}
	return c
}

// lookups bounds the probability that a memo table confused two inputs because the sums of the hashes of the other
// clients' visible parts were equal.
func (s *search) lookups() float64 {
	p := s.earlier
	for _, w := range s.workers {
		p += birthday(int64(w.table.n), 64) + birthday(int64(w.done.n), 64)
	}
	return p
}

// birthday bounds the probability that any two of n random numbers with the given number of bits are equal. The bound
// is the number of pairs times the probability that one pair is equal.
func birthday(n int64, bits int) float64 {
	return math.Ldexp(float64(n)*float64(max(0, n-1))/2, -bits)
}
