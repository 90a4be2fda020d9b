package monitor

import "math/bits"

// PermitNumber chooses a number for a granted permit, since permits have none. It is the lowest number that is neither
// taken nor believed: given to another permit, or to one that a client believes it holds. If this exceeds total, it is
// the lowest that is not taken. taken and believed are sets of numbers; bit 0 has no meaning. The result is at most
// [Slots].
func PermitNumber(taken, believed uint16, total int) uint8 {
	first := func(set uint16) int { return bits.TrailingZeros16(^(set | 1)) }
	if s := first(taken | believed); s <= total {
		return uint8(min(s, Slots))
	}
	return uint8(min(first(taken), Slots))
}
