package clientstress

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// client is one client of a run. When it dies it is started again, and so may have several lives.
type client struct {
	*runner
	part    stress.Part
	life    *life // the client's current life; nil between two lives
	lives   int32 // number of lives so far
	held    uint8 // the slot that the client believes to hold; 0 if none
	unsure  bool  // in the audit: an acquire or a release had an unknown outcome, so the client may hold something
	cut     bool  // the end of the run has interrupted an operation of the client
	tally   Stats
	wire    gate.Counts // traffic of earlier lives
	trouble error       // errors when lives ended
}

// work runs the client through all rounds.
func (c *client) work(ctx context.Context) {
	defer c.barrier.Leave()
	for range c.config.Rounds {
		if err := c.ready(ctx); err != nil {
			c.stop(err)
			return
		}
		if !c.barrier.Await(ctx) {
			return
		}
		c.part.Play(ctx, c)
	}
}

// ready starts the client, unless it is running.
func (c *client) ready(ctx context.Context) (err error) {
	if c.life == nil {
		c.lives++
		c.life, err = c.begin(ctx, int(c.part.Number), history.Process(c.part.Number, c.lives, c.most()), c.proxy)
	}
	if err != nil {
		c.life = nil
	}
	return err
}

// leave ends the client, if it is running, and forgets what it held.
func (c *client) leave(crash bool) {
	if c.life == nil {
		return
	}
	err := c.life.end(crash)
	if err != nil {
		c.trouble = errors.Join(c.trouble, fmt.Errorf("client %d: %w", c.part.Number, err))
	}
	counts := c.life.counts()
	c.wire.Add(&counts)
	c.life, c.held, c.unsure = nil, 0, false
}

// crash records a crash of the client and kills it.
func (c *client) crash() {
	c.recorder.World(history.Crash, c.life.process)
	c.leave(true)
}

// Holds reports whether the client believes that it holds a slot.
func (c *client) Holds() bool { return c.held > 0 }

// Call carries out one operation and records it. It returns Failed, without a call, if the client is not running or
// does not offer the operation. An operation that the end of the run interrupts stays without a completion.
func (c *client) Call(ctx context.Context, op lock.Op, slots uint8) lock.Outcome {
	if ctx.Err() != nil || c.life == nil || !c.life.offers(op) {
		return lock.Failed
	}
	dies := !c.auditing && c.part.Dies()
	params := c.params(op, slots)
	c.recorder.Invoke(c.life.process, op, max(slots, uint8(params.Slot), uint8(params.Limit)))
	c.life.begins(op)
	r, err := c.call(ctx, op, params)
	c.life.ends(op, err == nil && r.Outcome == lock.Done, r.Held)
	switch {
	case err != nil && !errors.Is(err, foreign.ErrDied):
		c.stop(fmt.Errorf("client %d: %w", c.part.Number, err))
		fallthrough
	case r.Outcome == lock.Unknown && ctx.Err() != nil:
		c.cut = true
		return lock.Pending
	case err != nil:
		c.tally.Died++
		r = lock.Result{Outcome: lock.Unknown, Reason: lock.Crashed}
	}
	r = c.interpret(op, r)
	c.conclude(op, r, foreign.TokenOf(c.life.client), dies)
	return r.Outcome
}

// params are the arguments of an operation. slots is the number of slots to add, remove or create.
func (c *client) params(op lock.Op, slots uint8) foreign.Params {
	p := foreign.Params{Name: c.lock, Slots: int(slots)}
	switch {
	case op == lock.Verify || op == lock.Release:
		p.Slot = int(c.held)
	case op == lock.Acquire && c.life.about.Limits:
		p.Limit = c.limit()
	case op == lock.Acquire && c.life.about.Waits && !c.auditing && c.part.Random.IntN(2) == 0:
		p.Timeout = waitTime
	}
	return p
}

// limit is the number of clients that the client's next acquire allows to hold the lock. In rounds it is random, from 1
// to the initial number of slots. In the audit it is the maximum number of slots that the lock may have.
func (c *client) limit() int {
	if c.auditing {
		_, most := c.slots()
		return max(1, most)
	}
	return 1 + c.part.Random.IntN(max(1, c.config.Slots))
}

// call calls the client's operation, and gives up after Config.Limit.
func (c *client) call(ctx context.Context, op lock.Op, params foreign.Params) (lock.Result, error) {
	limited, cancel := context.WithTimeout(ctx, c.config.Limit)
	defer cancel()
	r, err := c.life.client.Call(limited, op, params)
	if err == nil && r.Outcome == lock.Unknown && ctx.Err() == nil {
		if limited.Err() != nil {
			c.tally.Late++
		} else {
			c.tally.Unclear++
		}
	}
	return r, err
}

// interpret converts a result of the client to the form that histories have.
func (c *client) interpret(op lock.Op, r lock.Result) lock.Result {
	switch {
	case op == lock.Verify || op == lock.Release:
		r.Slot = c.held
	case op != lock.Acquire || r.Outcome == lock.Unknown:
	case r.Held:
		if r.Slot == 0 && c.config.Kind != lock.Semaphore {
			r.Slot = 1
		}
	case r.Reason == lock.NoReason:
		r.Outcome = lock.Failed
	}
	return r
}

// conclude records the result of an operation, and updates what the client is believed to hold. dies says that the
// client is to be killed then.
func (c *client) conclude(op lock.Op, r lock.Result, token int64, dies bool) {
	c.tally.Operations++
	c.recorder.Complete(c.life.process, op, r, token)
	switch {
	case op == lock.Acquire && r.Held:
		c.held = max(1, r.Slot)
	case op == lock.Verify && r.Outcome == lock.Done && !r.Held, op == lock.Release && r.Outcome == lock.Done:
		c.held = 0
	}
	switch {
	case c.auditing && r.Outcome == lock.Unknown && r.Reason == lock.NoReason:
		// The client is not killed, as an audit may repeat the operation.
		c.unsure = true
	case r.Outcome == lock.Unknown:
		c.crash()
	case dies:
		c.tally.Crashes++
		c.crash()
	}
}

// waitTime is the time to wait for the lock that clients state in half of their acquires, if they can wait. It is
// short, because a round lasts as long as its slowest client.
const waitTime = 20 * time.Millisecond
