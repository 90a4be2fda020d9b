package stress

import (
	"context"
	"math/rand/v2"

	"github.com/lockproof/lockproof/model/lock"
)

// Client is a client of the lock, which carries out the operations of a [Part].
type Client interface {
	// Call carries out an operation and returns its outcome, which is Pending if there is no answer. slots is how
	// many slots to create, add or remove. Verify and release are for the slot that the client holds.
	Call(ctx context.Context, op lock.Op, slots uint8) lock.Outcome
	// Holds reports whether the client believes that it holds a slot.
	Holds() bool
}

// Part chooses the operations of one client, round by round.
type Part struct {
	Number int32      // number of the client, from 1
	Random *rand.Rand // source of the client's choices
	load   *Load
	kind   lock.Kind
	added  bool // a slot that this administrator added may still exist
}

// Part returns the [Part] that chooses the operations of the client with the given number.
func (l *Load) Part(kind lock.Kind, number int32) Part {
	return Part{Number: number, Random: l.Choices(number), load: l, kind: kind}
}

// Play carries out the client's operations of one round.
func (p *Part) Play(ctx context.Context, c Client) {
	if int(p.Number) > p.load.Clients {
		p.administer(ctx, c)
	} else {
		p.use(ctx, c)
	}
}

// Dies chooses at random, with probability CrashShare, whether the client dies.
func (p *Part) Dies() bool { return p.Random.Float64() < p.load.CrashShare }

// use acquires the lock, verifies it a few times, and releases it. If the client still holds the slot from the last
// round, because a release failed, it does not acquire.
func (p *Part) use(ctx context.Context, c Client) {
	if !c.Holds() {
		c.Call(ctx, lock.Acquire, 0)
	}
	for range p.Random.IntN(p.load.Verifies + 1) {
		if c.Holds() {
			c.Call(ctx, lock.Verify, 0)
		}
	}
	if c.Holds() {
		c.Call(ctx, lock.Release, 0)
	}
}

// administer changes or counts the slots, in about half of the rounds. To bound the number of slots, it adds one only
// after the slot that it added before was certainly removed.
func (p *Part) administer(ctx context.Context, c Client) {
	switch p.Random.IntN(6) {
	case 0:
		c.Call(ctx, lock.Count, 0)
	case 1:
		c.Call(ctx, lock.Create, uint8(max(1, p.load.Slots)))
	case 2:
		p.change(ctx, c)
	}
}

// change adds a slot or, if it has added one before, removes a slot. A persistent mutex has no slots to add, so change
// destroys the mutex.
func (p *Part) change(ctx context.Context, c Client) {
	switch {
	case p.kind == lock.PersistentMutex:
		c.Call(ctx, lock.Destroy, 0)
	case p.added:
		p.added = c.Call(ctx, lock.Remove, 1) != lock.Done
	default:
		p.added = c.Call(ctx, lock.Add, 1) != lock.Failed
	}
}
