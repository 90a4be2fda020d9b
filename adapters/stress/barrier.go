package stress

import (
	"context"
	"sync"
)

// Barrier makes goroutines wait for one another: the last one to arrive releases all at one instant.
type Barrier struct {
	// Begin is called before each round, by the last goroutine to arrive, with the number of earlier rounds. It may
	// be nil. Set it before the first goroutine arrives.
	Begin func(round int)

	load    *Load
	mu      sync.Mutex
	parties int
	waiting int
	round   int
	gate    chan struct{}
}

// Barrier returns a barrier for all clients of the load. It calls the load's Progress before each round.
func (l *Load) Barrier() *Barrier {
	return &Barrier{load: l, parties: l.Members(), gate: make(chan struct{})}
}

// Await waits until all goroutines have arrived. It returns false if ctx ends first; the barrier must not be used
// after that.
func (b *Barrier) Await(ctx context.Context) bool {
	select {
	case <-b.arrive():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Rounds returns the number of rounds that have begun.
func (b *Barrier) Rounds() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.round
}

// arrive counts a goroutine as arrived, and returns the channel that is closed when the round begins.
func (b *Barrier) arrive() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	gate := b.gate
	b.waiting++
	b.release()
	return gate
}

// Leave removes one goroutine: the others no longer wait for it.
func (b *Barrier) Leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parties--
	b.release()
}

// release begins a round if all goroutines have arrived.
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
