package monitor

import "math/bits"

// PermitNumber chooses the number for a permit that has none of its own. It is the lowest number that no
// granted permit has and no client believes to hold. If fewer than total numbers are like that, it is the
// lowest that no granted permit has. taken and believed are sets of slots, in which bit 0 means nothing. The
// result is at most [Slots].
func PermitNumber(taken, believed uint16, total int) uint8 {
	first := func(set uint16) int { return bits.TrailingZeros16(^(set | 1)) }
	if s := first(taken | believed); s <= total {
		return uint8(min(s, Slots))
	}
	return uint8(min(first(taken), Slots))
}
