package search

import (
	"math/bits"

	"github.com/lockproof/lockproof/sim/search/states"
)

// memoKey is the input of a client's moves. own combines the numbers of the shared part and of the client's part. rest
// identifies the visible parts of the other clients, see worker.rest.
type memoKey struct{ own, rest uint64 }

// entry is one entry of a memo table. Key and value are adjacent, so that one memory access reads both.
type entry struct {
	memoKey
	val uint32 // the value plus 1; 0 marks a free entry
}

// memo is a hash table from keys to numbers, with open addressing and linear probing. It is at most two thirds full.
type memo struct {
	entries []entry
	n       int
}

func (m *memo) slot(k memoKey) *entry {
	at := int(states.Mix(k.own^bits.RotateLeft64(k.rest, 23))) & (len(m.entries) - 1)
	for m.entries[at].val != 0 && m.entries[at].memoKey != k {
		at = (at + 1) & (len(m.entries) - 1)
	}
	return &m.entries[at]
}

func (m *memo) find(k memoKey) (uint32, bool) {
	if m.n == 0 {
		return 0, false
	}
	v := m.slot(k).val
	return v - 1, v != 0
}

func (m *memo) add(k memoKey, v uint32) {
	if 3*m.n >= 2*len(m.entries) {
		old := m.entries
		m.entries = make([]entry, max(1024, 2*len(old)))
		for _, e := range old {
			if e.val != 0 {
				*m.slot(e.memoKey) = e
			}
		}
	}
	*m.slot(k) = entry{k, v + 1}
	m.n++
}

// size is the memory that the table takes, in bytes.
func (m *memo) size() int { return len(m.entries) * 24 }

// other maps an effect and another client's part to that part after the effect. Most effects leave most parts
// unchanged. For these, one bit in inert replaces the entry.
type other struct {
	memo
	inert []states.Set // indexed by effect: the parts that it leaves unchanged
	words int          // the size of all sets in inert together, in 64-bit words
}

func (o *other) size() int { return o.memo.size() + 8*o.words }

func (o *other) get(effect, part uint32) (uint32, bool) {
	if o.inert[effect].Has(part) {
		return part, true
	}
	return o.find(memoKey{own: uint64(effect)<<32 | uint64(part)})
}

func (o *other) set(effect, part, to uint32) {
	if part == to {
		o.words += o.inert[effect].Add(part)
		return
	}
	k := memoKey{own: uint64(effect)<<32 | uint64(part)}
	if _, ok := o.find(k); !ok {
		o.add(k, to)
	}
}
