package rabbitmq

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/spec"
)

// stressClient is one client of a run: its machine, its connection, and what it chooses to do.
type stressClient struct {
	*stress
	number  int32 // from 1
	admin   bool
	random  *rand.Rand
	machine lock.Machine
	line    *stressLine // nil when it has none
	opened  int32       // connections so far
	added   bool        // a slot that it added may be there
	bill    bill        // what the operation at hand took
	tally   StressStats // of this client alone
}

// stressChannel is the channel that clients work on.
const stressChannel = 1

func newStressClient(s *stress, i int) *stressClient {
	return &stressClient{
		stress: s, number: int32(i + 1), admin: i >= s.config.Clients, random: s.choices(i),
		machine: lock.Machine{Channel: stressChannel},
	}
}

// work takes part in every round.
func (c *stressClient) work(ctx context.Context) {
	defer c.barrier.leave()
	defer c.hangUp()
	for range c.config.Rounds {
		c.connected(ctx)
		if !c.barrier.await(ctx) {
			return
		}
		if c.admin {
			c.administer(ctx)
		} else {
			c.use(ctx)
		}
	}
}

// use acquires the lock, holds it while it verifies a few times, and releases it.
func (c *stressClient) use(ctx context.Context) {
	c.call(ctx, lock.Acquire, 0)
	for range c.random.IntN(c.config.Verifies + 1) {
		if c.machine.Held > 0 {
			c.call(ctx, lock.Verify, 0)
		}
	}
	if c.machine.Held > 0 {
		c.call(ctx, lock.Release, 0)
	}
}

// administer changes the number of slots, or counts them, in every second round or so. A slot is
// added only when the last one that was added is removed for certain, so that their number is
// bounded.
func (c *stressClient) administer(ctx context.Context) {
	switch c.random.IntN(6) {
	case 0:
		c.call(ctx, lock.Count, 0)
	case 1:
		c.call(ctx, lock.Create, uint8(max(1, c.config.Slots)))
	case 2:
		c.change(ctx)
	}
}

// change makes the slots fewer or more.
func (c *stressClient) change(ctx context.Context) {
	switch {
	case c.config.Target.Kind == lock.PersistentMutex:
		c.call(ctx, lock.Destroy, 0)
	case c.added:
		c.added = c.call(ctx, lock.Remove, 1) != lock.Done
	default:
		c.added = c.call(ctx, lock.Add, 1) != lock.Failed
	}
}

// call carries out one operation and records it. One in which the client dies, or the run is over,
// stays without an answer: its outcome is pending.
func (c *stressClient) call(ctx context.Context, op lock.Op, arg uint8) lock.Outcome {
	if ctx.Err() != nil {
		return lock.Failed
	}
	fatal := -1 // the batch that it does not live to see answered
	if c.random.Float64() < c.config.Crashes {
		fatal = c.random.IntN(4)
	}
	process := c.process()
	told := arg
	if op == lock.Verify || op == lock.Release {
		told = c.machine.Held
	}
	c.bill = bill{}
	c.recorder.invoke(process, op, told)
	c.lock.Start(&c.machine, op, arg)
	if !c.drive(ctx, fatal) {
		return lock.Pending
	}
	c.recorder.complete(process, op, c.machine.Result)
	c.tally.settle(op, c.machine.Result, &c.bill)
	outcome := c.machine.Result.Outcome
	if fatal >= 0 && c.line != nil {
		c.crash(nil)
	}
	return outcome
}

// process is the number of the process that the client's next operation belongs to: a client without
// a connection makes one first.
func (c *stressClient) process() int32 {
	opened := c.opened
	if c.machine.Link == lock.Down {
		opened++
	}
	return c.number + (opened-1)*c.members()
}

// open makes a connection. One that there still is, and the process that it was, end.
func (c *stressClient) open(ctx context.Context) amqp.Reply {
	if c.line != nil {
		c.recorder.world(spec.Crash, c.line.process)
		c.abandon()
	}
	process := c.number + c.opened*c.members()
	line, err := c.dial(ctx, process)
	if err != nil {
		c.stop(fmt.Errorf("client %d lost the broker: %w", c.number, err))
		return amqp.Reply{Kind: amqp.ConnectionClosed}
	}
	c.line = line
	c.opened++
	return amqp.Reply{Kind: amqp.OK}
}

// connected makes sure that the client has a connection and a channel before a round begins.
func (c *stressClient) connected(ctx context.Context) {
	if c.machine.Link == lock.Up {
		return
	}
	c.lock.Start(&c.machine, lock.Connect, 0)
	c.drive(ctx, -1)
}

// hangUp closes the connection in good order, at the end.
func (c *stressClient) hangUp() {
	if c.line != nil {
		c.line.Close()
	}
}
