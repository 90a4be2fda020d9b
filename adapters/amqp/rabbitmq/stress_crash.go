package rabbitmq

import (
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
)

// crash makes the client die, in flight while it waits for the replies to a batch. Its new life knows nothing of the
// old one.
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

// maxCrashDelay bounds the time from the writing of a client's last batch to its crash, in
// microseconds: an exchange takes a few hundred.
const maxCrashDelay = 1000

// crashInFlight closes the client's socket before, in the midst of or after the effect of a batch.
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

// lose gives up a connection that was closed by the broker, or on which it did not answer in time.
func (c *stressClient) lose() {
	if c.line != nil {
		c.tally.Dropped++
		c.recorder.Since(c.line.heard, history.Crash, c.line.process)
		c.abandon()
	}
}

// abandon closes what is left of a connection that the client has given up.
func (c *stressClient) abandon() {
	c.disconnects.release(c.line)
	c.line.Kill()
	c.line = nil
}
