package rabbitmq

import (
	"context"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
)

// drive runs the machine until its operation has ended. It returns false if the client died during batch number fatal,
// or the run ended.
func (c *stressClient) drive(ctx context.Context, fatal int) bool {
	for n := 0; !c.machine.Done(); {
		if ctx.Err() != nil {
			return false
		}
		if ways := c.protocol.Choices(&c.machine); ways > 0 {
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

// choose makes a random choice where an option leaves one to the client. ways is the number of possibilities. If the
// machine then wants to sleep, choose sleeps.
func (c *stressClient) choose(ctx context.Context, ways int) {
	c.protocol.Choose(&c.machine, c.part.Random.IntN(ways))
	if c.machine.Sleep > 0 {
		sleep(ctx, time.Duration(c.machine.Sleep)*time.Millisecond)
		c.machine.Sleep = 0
	}
}

// exchange sends a batch and gives the machine the replies.
func (c *stressClient) exchange(ctx context.Context, batch []amqp.Command) {
	c.take(batch, c.send(ctx, batch))
	if c.machine.Link == amqplock.Down {
		c.lose()
	}
}

// send sends commands to the broker and returns the replies. Without a connection, the reply is connection-closed.
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
			// RabbitMQ sends close-ok after it has dropped everything of the connection (FACTS B11).
			c.recorder.World(history.Gone, c.line.process)
			c.line = nil
		}
	}
	c.bill.charge(batch, replies)
	return replies
}
