package rabbitmq

import (
	"context"
	"fmt"

	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// stressClient is a client in a stress run: its state machine, connection and random source.
type stressClient struct {
	*stressRun
	driven
	part   stress.Part
	line   *stressLine // current connection; nil if it has none
	opened int32       // number of connections opened so far
	bill   bill        // cost of the current operation
	tally  StressStats // this client's part of the run's statistics
}

func newStressClient(s *stressRun, number int32) *stressClient {
	return &stressClient{
		stressRun: s, driven: newDriven(s.lock), part: s.config.Load.Part(s.config.Target.Kind, number),
	}
}

// work runs the client through all rounds.
func (c *stressClient) work(ctx context.Context) {
	defer c.barrier.Leave()
	for range c.config.Rounds {
		c.connected(ctx)
		if !c.barrier.Await(ctx) {
			return
		}
		c.part.Play(ctx, c)
	}
}

// Holds reports whether the client believes that it holds a slot.
func (c *stressClient) Holds() bool { return c.machine.Held > 0 }

// Call carries out one operation and records it. If the client dies during the operation, or the run ends, the
// operation has no completion and the outcome is pending.
func (c *stressClient) Call(ctx context.Context, op lock.Op, arg uint8) lock.Outcome {
	if ctx.Err() != nil {
		return lock.Failed
	}
	fatal := -1 // index of the batch during which the client dies; -1 if it does not
	if c.part.Dies() {
		fatal = c.part.Random.IntN(4)
	}
	process := c.process()
	told := arg
	if op == lock.Verify || op == lock.Release {
		told = c.machine.Held
	}
	c.bill = bill{}
	c.recorder.Invoke(process, op, told)
	c.protocol.Start(&c.machine, op, arg)
	if !c.drive(ctx, fatal) {
		return lock.Pending
	}
	c.recorder.Complete(process, op, c.machine.Result, 0)
	c.tally.settle(op, c.machine.Result, &c.bill)
	outcome := c.machine.Result.Outcome
	if fatal >= 0 && c.line != nil {
		c.crash(nil)
	}
	return outcome
}

// process is the history's process number for the client's next operation. A client without a connection opens one
// first.
func (c *stressClient) process() int32 {
	opened := c.opened
	if c.machine.Link == amqplock.Down {
		opened++
	}
	return c.config.Process(c.part.Number, opened)
}

// open opens a connection. If the client had one, it is closed, and its process ends.
func (c *stressClient) open(ctx context.Context) amqp.Reply {
	if c.line != nil {
		c.recorder.World(history.Crash, c.line.process)
		c.abandon()
	}
	process := c.config.Process(c.part.Number, c.opened+1)
	line, err := c.dial(ctx, process)
	if err != nil {
		c.stop(fmt.Errorf("client %d lost the broker: %w", c.part.Number, err))
		return amqp.Reply{Kind: amqp.ConnectionClosed}
	}
	c.line = line
	c.opened++
	return amqp.Reply{Kind: amqp.OK}
}

// connected ensures that the client has a connection and a channel. It is called before a round begins.
func (c *stressClient) connected(ctx context.Context) {
	if c.machine.Link == amqplock.Up {
		return
	}
	c.protocol.Start(&c.machine, lock.Connect, 0)
	c.drive(ctx, -1)
}

// hangUp closes the connection with connection.close. It is called only when no client works any more: otherwise
// another client could acquire what this one holds.
func (c *stressClient) hangUp() {
	if c.line != nil {
		c.line.Close()
	}
}
