package search

import (
	"math/bits"

	"github.com/lockproof/lockproof/sim/search/states"
)

// memoKey is the input of a client's moves: the numbers of the shared part and of its own, and the sum of the hashes
// of the other clients' views.
type memoKey struct{ own, rest uint64 }

// entry is a place of a table: key and number side by side, so that both come from memory at once.
type entry struct {
	memoKey
	val uint32 // plus 1; 0 is free
}

// memo is a table from keys to numbers: open addressing, linear probing, never more than two thirds
// full.
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

// other is a table of what effects do to other clients' parts. Most leave most parts as they are: that
// is a bit.
type other struct {
	memo
	inert []states.Set // by effect: the parts that it leaves as they are
	words int          // that these sets take
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
