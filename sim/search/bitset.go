package search

import "math/bits"

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

// rank is how many numbers less than n are in the set.
func (s bitset) rank(n uint32) (rank int) {
	for i := range n / 64 {
		rank += bits.OnesCount64(s[i])
	}
	return rank + bits.OnesCount64(s[n/64]&(1<<(n%64)-1))
}
