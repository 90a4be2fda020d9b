package redis

import "math"

// The protocol's text considers rounds ("2b. Calculating Acquire TTLs"): every client acquires the lock once, as
// quickly as possible. A round begins when the first client gets the free lock, and ends with the client of the highest
// priority. A client steals the lock from a holder of a lower priority, and is refused otherwise. The chain of a round
// is the sequence of its holders. If clients arrive in random order, the holders are the records of a random
// permutation: each has a higher priority than all clients before.

// ChainLengths is the exact distribution of a chain's length: value i is the probability of length i. Each priority has
// one client, and all orders of arrival are equally likely. The k-th client to arrive is a record with probability 1/k,
// independently of the others, so that the length is a sum of independent coin flips.
func ChainLengths(priorities int) []float64 {
	p := make([]float64, priorities+1)
	p[0] = 1
	for k := 1; k <= priorities; k++ {
		record := 1 / float64(k)
		for n := k; n > 0; n-- {
			p[n] = p[n]*(1-record) + p[n-1]*record
		}
		p[0] *= 1 - record
	}
	return p
}

// ChainOfText is the formula of the protocol's text for the same distribution: C(N) is the product of 1/(P-i) for i
// from 0 to N-1. It is wrong: it is the probability that the first N clients are one given sequence, but many sequences
// give a chain of length N.
func ChainOfText(priorities int) []float64 {
	c := make([]float64, priorities+1)
	product := 1.0
	for n := 1; n <= priorities; n++ {
		product /= float64(priorities - n + 1)
		c[n] = product
	}
	return c
}

// Moments are the sum of p, and its mean and standard deviation if p is scaled to the sum 1.
func Moments(p []float64) (sum, mean, deviation float64) {
	square := 0.0
	for n, x := range p {
		sum += x
		mean += float64(n) * x
		square += float64(n*n) * x
	}
	return sum, mean, math.Sqrt(square - mean*mean)
}

// Tail is the probability that the length is above n.
func Tail(p []float64, n int) (sum float64) {
	for _, x := range p[min(n+1, len(p)):] {
		sum += x
	}
	return sum
}
