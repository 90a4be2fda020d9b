package monitor

import "math/bits"

// PermitNumber chooses a number for a permit without a number of its own. It is the lowest that no granted permit has
// and that no client believes it holds. If fewer than total numbers are like that, it is the lowest that no granted
// permit has. taken and believed are sets of slots, in which bit 0 means nothing. The result is at most [Slots].
func PermitNumber(taken, believed uint16, total int) uint8 {
	first := func(set uint16) int { return bits.TrailingZeros16(^(set | 1)) }
	if s := first(taken | believed); s <= total {
		return uint8(min(s, Slots))
	}
	return uint8(min(first(taken), Slots))
}
