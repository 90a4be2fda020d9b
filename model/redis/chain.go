package redis

import "math"

// In a round of the text ("2b. Calculating Acquire TTLs"), every client acquires as quickly as possible. The round
// begins with the client that gets the free lock, and ends with the client of the highest priority. A client with a
// higher priority than the entry's steals the lock; any other is refused. The chain of a round is the sequence of
// clients that have had the entry. In a random order of arrival these are the records of a random permutation.

// ChainLengths is the exact distribution of a chain's length. Each priority has one client, and all orders of arrival
// are equally likely; the i-th value is the probability of length i. The k-th client to arrive is a record with
// probability 1/k, independently of the others, so the length is a sum of independent coin flips.
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

// ChainOfText is instead the formula of the text: C(N), the product of 1/(P-i) for i from 0 to N-1. This is the
// probability that the first N to arrive are one given sequence of clients, although each length has many such
// sequences.
func ChainOfText(priorities int) []float64 {
	c := make([]float64, priorities+1)
	product := 1.0
	for n := 1; n <= priorities; n++ {
		product /= float64(priorities - n + 1)
		c[n] = product
	}
	return c
}

// Moments are the sum of a distribution, and the mean and standard deviation after division by the sum.
func Moments(p []float64) (sum, mean, deviation float64) {
	square := 0.0
	for n, x := range p {
		sum += x
		mean += float64(n) * x
		square += float64(n*n) * x
	}
	return sum, mean, math.Sqrt(square - mean*mean)
}

// Tail is the probability of a length above n.
func Tail(p []float64, n int) (sum float64) {
	for _, x := range p[min(n+1, len(p)):] {
		sum += x
	}
	return sum
}
