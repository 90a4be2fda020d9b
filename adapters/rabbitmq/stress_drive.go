package rabbitmq

import (
	"context"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
)

// drive runs the machine until its operation is over. It is false if the client died at the fatal
// batch, or the run ended.
func (c *stressClient) drive(ctx context.Context, fatal int) bool {
	for n := 0; !c.machine.Done(); {
		if ctx.Err() != nil {
			return false
		}
		if ways := c.lock.Choices(&c.machine); ways > 0 {
			c.choose(ctx, ways)
			continue
		}
		batch := c.batch()
		if n == fatal && c.line != nil {
			c.crash(batch)
			return false
		}
		c.exchange(ctx, batch)
		n++
	}
	return true
}

// choose takes one way that a random option leaves open.
func (c *stressClient) choose(ctx context.Context, ways int) {
	c.lock.Choose(&c.machine, c.part.Random.IntN(ways))
	if c.machine.Sleep > 0 {
		sleep(ctx, time.Duration(c.machine.Sleep)*time.Millisecond)
		c.machine.Sleep = 0
	}
}

// batch is what the machine wants written before any reply is read.
func (c *stressClient) batch() []amqp.Command {
	batch := make([]amqp.Command, c.lock.Pending(&c.machine))
	for i := range batch {
		ahead := c.machine
		ahead.Answered += uint8(i)
		batch[i] = c.lock.Next(&ahead)
	}
	return batch
}

// exchange writes a batch and hands the machine the replies. Those that it does not wait for any
// more, since an earlier one led it elsewhere, it does not get.
func (c *stressClient) exchange(ctx context.Context, batch []amqp.Command) {
	for i, r := range c.send(ctx, batch) {
		if i > 0 && !c.expects(batch[i]) {
			break
		}
		c.lock.Apply(&c.machine, r)
	}
	if c.machine.Link == amqplock.Down {
		c.lose()
	}
}

// expects reports whether the machine waits for the reply to a command.
func (c *stressClient) expects(cmd amqp.Command) bool {
	return !c.machine.Done() && c.lock.Choices(&c.machine) == 0 && c.lock.Next(&c.machine) == cmd
}

// send has the commands answered by the broker, and by nobody where there is no connection.
func (c *stressClient) send(ctx context.Context, batch []amqp.Command) []amqp.Reply {
	var replies []amqp.Reply
	switch {
	case batch[0].Method == amqp.ConnectionOpen:
		replies = []amqp.Reply{c.open(ctx)}
	case c.line == nil:
		return []amqp.Reply{{Kind: amqp.ConnectionClosed}}
	default:
		replies = c.line.do(batch)
		if batch[0].Method == amqp.ConnectionClose && replies[0].Kind == amqp.OK {
			// By the time close-ok is here, everything is dropped (BROKER-FACTS 11).
			c.recorder.World(history.Gone, c.line.process)
			c.line = nil
		}
	}
	c.bill.charge(batch, replies)
	return replies
}
