package monitor

import "math/bits"

// PermitNumber is the number by which a permit goes that has none of its own, from when somebody gets it to when it is given
// back: the lowest that no other permit has and nobody believes to hold, or, where there are not so many as total permits,
// the lowest that no other has. taken and believed are sets of slots, in which 0 means nothing; it is at most [Slots].
func PermitNumber(taken, believed uint16, total int) uint8 {
	first := func(set uint16) int { return bits.TrailingZeros16(^(set | 1)) }
	if s := first(taken | believed); s <= total {
		return uint8(min(s, Slots))
	}
	return uint8(min(first(taken), Slots))
}
