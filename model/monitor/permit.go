package monitor

import "math/bits"

// PermitNumber chooses a number for a granted permit, since permits have none of their own. taken has the numbers of
// other permits. believed has the numbers of permits that clients believe they hold. Bit 0 has no meaning in either
// set. The result is the lowest number that is in neither set. If this exceeds total, the result is the lowest number
// that is not taken. It is at most [Slots].
func PermitNumber(taken, believed uint16, total int) uint8 {
	first := func(set uint16) int { return bits.TrailingZeros16(^(set | 1)) }
	if s := first(taken | believed); s <= total {
		return uint8(min(s, Slots))
	}
	return uint8(min(first(taken), Slots))
}
