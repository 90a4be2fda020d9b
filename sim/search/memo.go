package search

import "math/bits"

// memoKey is what a client's moves depend on: the shared part and its own by number, exactly, and the
// sum of the hashes of the others' views.
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
	at := int(mix(k.own^bits.RotateLeft64(k.rest, 23))) & (len(m.entries) - 1)
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
	inert []bitset // by effect: the parts that it leaves as they are
	words int      // that these sets take
}

func (o *other) size() int { return o.memo.size() + 8*o.words }

func (o *other) get(effect, part uint32) (uint32, bool) {
	if o.inert[effect].has(part) {
		return part, true
	}
	return o.find(memoKey{own: uint64(effect)<<32 | uint64(part)})
}

func (o *other) set(effect, part, to uint32) {
	if part == to {
		o.words += o.inert[effect].add(part)
		return
	}
	k := memoKey{own: uint64(effect)<<32 | uint64(part)}
	if _, ok := o.find(k); !ok {
		o.add(k, to)
	}
}

// bitset is a set of small numbers.
type bitset []uint64

func (s bitset) has(n uint32) bool { return int(n/64) < len(s) && s[n/64]>>(n%64)&1 != 0 }

// add adds a number and tells how many words the set has grown by.
func (s *bitset) add(n uint32) int {
	more := max(0, int(n/64)+1-len(*s))
	*s = append(*s, make([]uint64, more)...)
	(*s)[n/64] |= 1 << (n % 64)
	return more
}

// merge adds another set and reports whether that has more than was there.
func (s *bitset) merge(o bitset) (more bool) {
	if len(o) > len(*s) {
		*s = append(*s, make([]uint64, len(o)-len(*s))...)
	}
	for i, word := range o {
		more = more || word&^(*s)[i] != 0
		(*s)[i] |= word
	}
	return more
}

// exceeds reports whether there is a number in the set that is not in another.
func (s bitset) exceeds(o bitset) bool {
	for i, word := range s {
		if i < len(o) {
			word &^= o[i]
		}
		if word != 0 {
			return true
		}
	}
	return false
}

// count is how many numbers are in the set.
func (s bitset) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// all yields the numbers in the set, ascending.
func (s bitset) all(yield func(uint32) bool) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(uint32(64*i + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

// without is the set of what is in it and not in another.
func (s bitset) without(o bitset) bitset {
	out := make(bitset, len(s))
	for i, word := range s {
		if i < len(o) {
			word &^= o[i]
		}
		out[i] = word
	}
	return out
}

// and is the set of what is in both.
func (s bitset) and(o bitset) bitset {
	out := make(bitset, min(len(s), len(o)))
	for i := range out {
		out[i] = s[i] & o[i]
	}
	return out
}
