// Package searchtest has helpers for tests of searches.
package searchtest

import (
	"context"
	"sync/atomic"
)

// Countdown is a context that ends after a fixed number of calls of Err. So it interrupts a search at the same place
// on every machine.
type Countdown struct {
	context.Context
	left atomic.Int64
}

// NewCountdown returns a context whose Err returns nil n times, and then an error.
func NewCountdown(n int) *Countdown {
	c := &Countdown{Context: context.Background()}
	c.left.Store(int64(n))
	return c
}

// Err implements [context.Context].
func (c *Countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}
