package redis

import (
	"math"

	"github.com/lockproof/lockproof/model/lock"
)

// A round of the text ("2b. Calculating Acquire TTLs") has every client acquire as quickly as possible. It begins with the
// client that gets the free lock, and ends with the one of the highest priority: a client of a higher priority than the
// entry's steals the lock, any other is refused. The chain of a round is all clients that have had the entry. In a random
// order of arrival these are the records of a random permutation.

// ChainLengths is the exact distribution of a chain's length where each of so many priorities has one client and all orders
// of arrival are as likely: the i-th of the slice is the probability of length i. The k-th to arrive is a record with
// probability 1/k, whatever the others are, so that the length is a sum of independent coins.
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

// ChainOfText is what the text computes instead: C(N), the product of 1/(P-i) for i from 0 to N-1. That is the probability
// that the first N to arrive are one given sequence of clients, of which there are many more than one for each length.
func ChainOfText(priorities int) []float64 {
	c := make([]float64, priorities+1)
	product := 1.0
	for n := 1; n <= priorities; n++ {
		product /= float64(priorities - n + 1)
		c[n] = product
	}
	return c
}

// Moments are the sum of a distribution, and its mean and standard deviation as they would be if it were 1.
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

// Round is how long the chain of a round is in which clients of those priorities arrive in that order, by machines on a server
// of their own.
func (p *Protocol) Round(priorities []int) (length int) {
	var s Server
	for _, priority := range priorities {
		var m Machine
		p.Start(&m, uint8(priority), lock.Acquire, uint8(priority), 0)
		_, c := p.Next(&m, 0)
		p.Apply(&m, s.Apply(c), 0)
		if m.Phase == Waiting || m.Held {
			length++
		}
	}
	return length
}
