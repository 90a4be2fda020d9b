package rabbitmq

import (
	"context"
	"sync"
)

// barrier lets goroutines go on together: the last to arrive releases all at one instant.
type barrier struct {
	begin func(round int) // called by the last to arrive, before anybody goes on

	mu      sync.Mutex
	parties int
	waiting int
	round   int
	gate    chan struct{}
}

func newBarrier(parties int) *barrier {
	return &barrier{parties: parties, gate: make(chan struct{})}
}

// await waits for the others. It is false when ctx is done first; then there are no rounds any more.
func (b *barrier) await(ctx context.Context) bool {
	select {
	case <-b.arrive():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// arrive counts a goroutine in and returns the gate that it waits at.
func (b *barrier) arrive() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	gate := b.gate
	b.waiting++
	b.release()
	return gate
}

// leave has the others not wait for one of them any more.
func (b *barrier) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parties--
	b.release()
}

// release begins a round if all are there.
func (b *barrier) release() {
	if b.parties == 0 || b.waiting < b.parties {
		return
	}
	b.begin(b.round)
	b.round++
	b.waiting = 0
	close(b.gate)
	b.gate = make(chan struct{})
}
