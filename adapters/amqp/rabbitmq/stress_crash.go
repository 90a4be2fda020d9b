package rabbitmq

import (
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
)

// crash makes the client die. If batch is not empty, it dies while it waits for the replies to batch. Afterwards the client
// has lost all its state.
func (c *stressClient) crash(batch []amqp.Command) {
	c.tally.Crashes++
	if c.config.InFlight && len(batch) > 0 {
		c.crashInFlight(batch)
	} else {
		c.recorder.World(history.Crash, c.line.process)
	}
	c.abandon()
	c.machine = amqplock.Machine{Channel: clientChannel}
}

// maxCrashDelay is the maximum time from the writing of a client's last batch to its crash, in microseconds: an exchange
// takes a few hundred.
const maxCrashDelay = 1000

// crashInFlight closes the client's socket before, during or after the effect of a batch.
func (c *stressClient) crashInFlight(batch []amqp.Command) {
	died := make(chan struct{})
	time.AfterFunc(time.Duration(c.part.Random.IntN(maxCrashDelay))*time.Microsecond, func() {
		defer close(died)
		c.recorder.World(history.Crash, c.line.process)
		c.line.Kill()
	})
	c.line.do(batch)
	<-died
}

// lose abandons a connection that the broker closed, or on which it did not answer in time.
func (c *stressClient) lose() {
	if c.line != nil {
		c.tally.Dropped++
		c.recorder.Since(c.line.heard, history.Crash, c.line.process)
		c.abandon()
	}
}

// abandon closes the rest of a connection that the client has abandoned.
func (c *stressClient) abandon() {
	c.disconnects.release(c.line)
	c.line.Kill()
	c.line = nil
}
