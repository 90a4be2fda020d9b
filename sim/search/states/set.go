package states

import "math/bits"

// Set is a set of small numbers, stored as one bit per number.
type Set []uint64

// Has reports whether a number is in the set.
func (s Set) Has(n uint32) bool { return int(n/64) < len(s) && s[n/64]>>(n%64)&1 != 0 }

// Add adds a number. It returns by how many 64-bit words the set has grown.
func (s *Set) Add(n uint32) int {
	more := max(0, int(n/64)+1-len(*s))
	*s = append(*s, make([]uint64, more)...)
	(*s)[n/64] |= 1 << (n % 64)
	return more
}

// Merge adds the numbers of o to the set. It reports whether any of them is new.
func (s *Set) Merge(o Set) (more bool) {
	if len(o) > len(*s) {
		*s = append(*s, make([]uint64, len(o)-len(*s))...)
	}
	for i, word := range o {
		more = more || word&^(*s)[i] != 0
		(*s)[i] |= word
	}
	return more
}

// Exceeds reports whether the set has a number that is not in o.
func (s Set) Exceeds(o Set) bool {
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

// Count returns the number of elements of the set.
func (s Set) Count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// All yields the numbers in the set, ascending.
func (s Set) All(yield func(uint32) bool) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(uint32(64*i + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

// Without returns the numbers of the set that are not in o.
func (s Set) Without(o Set) Set {
	out := make(Set, len(s))
	for i, word := range s {
		if i < len(o) {
			word &^= o[i]
		}
		out[i] = word
	}
	return out
}

// And returns the intersection of s and o.
func (s Set) And(o Set) Set {
	out := make(Set, min(len(s), len(o)))
	for i := range out {
		out[i] = s[i] & o[i]
	}
	return out
}

// Rank returns the number of elements of the set that are less than n.
func (s Set) Rank(n uint32) (rank int) {
	for i := range n / 64 {
		rank += bits.OnesCount64(s[i])
	}
	return rank + bits.OnesCount64(s[n/64]&(1<<(n%64)-1))
}

// Save writes the numbers in the set to e.
func (s Set) Save(e *Encoder) {
	e.U32(uint32(len(s)))
	for _, word := range s {
		e.U64(word)
	}
}

// ReadSet reads a set that Save wrote. Its numbers must be less than n.
func ReadSet(d *Decoder, n uint32) (s Set) {
	for k := d.Fits(uint64(d.U32()), 8); k > 0; k-- {
		s = append(s, d.U64())
	}
	for m := range s.All {
		if m >= n {
			d.Damaged()
			return nil
		}
	}
	return s
}
