package stress

import (
	"context"
	"sync"
)

// Barrier lets goroutines go on together: the last to arrive releases all at one instant.
type Barrier struct {
	// Begin is called by the last to arrive, before anybody goes on, with the number of rounds so far. It may be
	// nil, and is set before anybody arrives.
	Begin func(round int)

	load    *Load
	mu      sync.Mutex
	parties int
	waiting int
	round   int
	gate    chan struct{}
}

// Barrier is one for all members, which tells the load's Progress.
func (l *Load) Barrier() *Barrier {
	return &Barrier{load: l, parties: l.Members(), gate: make(chan struct{})}
}

// Await waits for the others. It is false when ctx is done first; then there are no rounds any more.
func (b *Barrier) Await(ctx context.Context) bool {
	select {
	case <-b.arrive():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Rounds is how many were begun.
func (b *Barrier) Rounds() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.round
}

// arrive counts a goroutine in and returns the gate that it waits at.
func (b *Barrier) arrive() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	gate := b.gate
	b.waiting++
	b.release()
	return gate
}

// Leave has the others not wait for one of them any more.
func (b *Barrier) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parties--
	b.release()
}

// release begins a round if all are there.
func (b *Barrier) release() {
	if b.parties == 0 || b.waiting < b.parties {
		return
	}
	b.load.progress(b.round)
	if b.Begin != nil {
		b.Begin(b.round)
	}
	b.round++
	b.waiting = 0
	close(b.gate)
	b.gate = make(chan struct{})
}
