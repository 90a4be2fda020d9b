package drawn

import "math/rand/v2"

// Chooser makes the random choices for a drawn history. Below returns a number from 0 to n-1.
type Chooser interface{ Below(n int) int }

// Seeded takes its choices from a seeded random generator.
type Seeded struct{ *rand.Rand }

// Below implements [Chooser].
func (s Seeded) Below(n int) int { return s.IntN(n) }

// BySeed returns a chooser that makes the same choices for the same seed.
func BySeed(seed uint64) Seeded { return Seeded{rand.New(rand.NewPCG(seed, 1))} }

// ByBytes takes choices from bytes, for example those of a fuzzer. When no bytes are left, every choice is 0.
type ByBytes struct{ Rest *[]byte }

// Below implements [Chooser].
func (b ByBytes) Below(n int) int {
	if len(*b.Rest) == 0 {
		return 0
	}
	v := int((*b.Rest)[0])
	*b.Rest = (*b.Rest)[1:]
	return v % n
}
