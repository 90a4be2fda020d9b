package rabbitmq

import (
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
)

// crash makes the client die. If batch is not empty and InFlight is set, the client dies while it waits for the replies
// to batch. The client then starts again without any state.
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

// maxCrashDelay is the maximum time between writing a batch and a crash during it, in microseconds. The reply to a
// batch takes a few hundred.
const maxCrashDelay = 1000

// crashInFlight sends a batch and closes the client's socket at a random moment: before, while or after the broker
// carries the batch out.
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

// lose gives up a connection that the broker has closed, or on which no reply arrived in time, and records a Crash.
func (c *stressClient) lose() {
	if c.line != nil {
		c.tally.Dropped++
		c.recorder.Since(c.line.heard, history.Crash, c.line.process)
		c.abandon()
	}
}

// abandon closes the socket and tells the disconnect observer that the connection has ended.
func (c *stressClient) abandon() {
	c.disconnects.release(c.line)
	c.line.Kill()
	c.line = nil
}
