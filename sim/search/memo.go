package search

import "math/bits"

// memoKey is what a client's moves depend on: the shared part and its own by number, exactly, and the
// sum of the hashes of the others' views.
type memoKey struct{ own, rest uint64 }

// memo is a table from keys to numbers: open addressing, linear probing, never more than two thirds
// full.
type memo struct {
	keys []memoKey
	vals []uint32 // plus 1; 0 is free
	n    int
}

func (m *memo) slot(k memoKey) int {
	at := int(mix(k.own^bits.RotateLeft64(k.rest, 23))) & (len(m.keys) - 1)
	for m.vals[at] != 0 && m.keys[at] != k {
		at = (at + 1) & (len(m.keys) - 1)
	}
	return at
}

func (m *memo) find(k memoKey) (uint32, bool) {
	if m.n == 0 {
		return 0, false
	}
	v := m.vals[m.slot(k)]
	return v - 1, v != 0
}

func (m *memo) add(k memoKey, v uint32) {
	if 3*m.n >= 2*len(m.keys) {
		old := *m
		size := max(1024, 2*len(old.keys))
		m.keys, m.vals = make([]memoKey, size), make([]uint32, size)
		for i, v := range old.vals {
			if v != 0 {
				at := m.slot(old.keys[i])
				m.keys[at], m.vals[at] = old.keys[i], v
			}
		}
	}
	at := m.slot(k)
	m.keys[at], m.vals[at] = k, v+1
	m.n++
}

// size is the memory that the table takes, in bytes.
func (m *memo) size() int { return len(m.keys) * 20 }

// other is a table of what moves do to other clients' parts.
type other struct{ memo }

func (o *other) get(move, part uint32) (uint32, bool) {
	return o.find(memoKey{own: uint64(move)<<32 | uint64(part)})
}

func (o *other) set(move, part, to uint32) {
	k := memoKey{own: uint64(move)<<32 | uint64(part)}
	if _, ok := o.find(k); !ok {
		o.add(k, to)
	}
}
