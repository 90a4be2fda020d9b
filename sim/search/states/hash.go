package states

// Hash returns a hash of the encoding of a part of a state. It is the same on every machine.
func Hash(b []byte) uint64 {
	h := uint64(len(b)) * 0x9E3779B97F4A7C15
	for len(b) >= 8 {
		v := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		h = Mix(h ^ v)
		b = b[8:]
	}
	last := uint64(0)
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	return Mix(Mix(h^last) + 0x2545F4914F6CDD1D)
}

// Mix permutes the 64-bit numbers so that every bit of x affects all bits of the result (the finalizer of MurmurHash3,
// with the constants of SplitMix64).
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}
