package sim

import "math/bits"

// coin generates random bits with Bob Jenkins's small 64-bit generator (burtleburtle.net/bob/rand/smallprng.html). The
// testing library rapid uses the same generator, so a seed gives the scenarios that rapid would draw; a test compares
// them. The program does not link rapid, since rapid registers flags and reads the environment.
type coin struct{ a, b, c, d uint64 }

func newCoin(seed uint64) coin {
	x := coin{0xf1ea5eed, seed, seed, seed}
	for range 20 {
		x.next()
	}
	return x
}

func (x *coin) next() uint64 {
	e := x.a - bits.RotateLeft64(x.b, 7)
	x.a = x.b ^ bits.RotateLeft64(x.c, 13)
	x.b = x.c + bits.RotateLeft64(x.d, 37)
	x.c = x.d + e
	x.d = e + x.a
	return x.d
}

// Flip returns the next random bit.
func (x *coin) Flip() bool { return x.next()&1 == 1 }

// bits returns a number of n bits, from n flips.
func (x *coin) bits(n int) (v int) {
	c := *x
	for range n {
		v = v<<1 | int(c.next()&1)
	}
	*x = c
	return v
}
