package drawn

import "math/rand/v2"

// Chooser makes the choices by which a history is drawn.
type Chooser interface{ Below(n int) int }

// Seeded are the choices of a generator.
type Seeded struct{ *rand.Rand }

// Below is a number below n.
func (s Seeded) Below(n int) int { return s.IntN(n) }

// BySeed chooses by a seed, so that a history can be drawn again.
func BySeed(seed uint64) Seeded { return Seeded{rand.New(rand.NewPCG(seed, 1))} }

// ByBytes chooses by bytes, those of a fuzzer or of rapid; when there are no more, by zeros.
type ByBytes struct{ Rest *[]byte }

// Below is a number below n.
func (b ByBytes) Below(n int) int {
	if len(*b.Rest) == 0 {
		return 0
	}
	v := int((*b.Rest)[0])
	*b.Rest = (*b.Rest)[1:]
	return v % n
}
