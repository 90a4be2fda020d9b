package stress

import (
	"context"
	"math/rand/v2"

	"github.com/lockproof/lockproof/model/lock"
)

// Client is whoever does a [Part].
type Client interface {
	// Call carries out an operation and says what it came to: Pending where it stays without an answer.
	// slots is how many to create, add or remove. A verify and a release are for the slot that the client holds.
	Call(ctx context.Context, op lock.Op, slots uint8) lock.Outcome
	// Holds reports whether the client believes that it holds a slot.
	Holds() bool
}

// Part is what one client does, round by round.
type Part struct {
	Number int32      // the client's, from 1
	Random *rand.Rand // what it chooses by
	load   *Load
	kind   lock.Kind
	added  bool // a slot that it added may be there
}

// Part is the part of the client with that number.
func (l *Load) Part(kind lock.Kind, number int32) Part {
	return Part{Number: number, Random: l.Choices(number), load: l, kind: kind}
}

// Play does what the client does in one round.
func (p *Part) Play(ctx context.Context, c Client) {
	if int(p.Number) > p.load.Clients {
		p.administer(ctx, c)
	} else {
		p.use(ctx, c)
	}
}

// Dies chooses whether the client dies in, or after, an operation.
func (p *Part) Dies() bool { return p.Random.Float64() < p.load.CrashShare }

// use acquires the lock, holds it while it verifies a few times, and releases it. A slot that it could not release in the
// last round it still has.
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

// administer changes the number of slots, or counts them, in every second round or so. A slot is
// added only when the last one that was added is removed for certain, so that their number is
// bounded.
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

// change makes the slots fewer or more.
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
