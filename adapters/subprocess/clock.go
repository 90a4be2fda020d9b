package subprocess

import (
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate/clock"
)

// ownTime is the time of a client that was started with a clock of ours. It implements [foreign.Time].
type ownTime struct {
	client *Client
	clock  *clock.Client
}

var (
	_ foreign.Timed = (*Client)(nil)
	_ foreign.Time  = (*ownTime)(nil)
)

// Time is the client's time, where its program has our clock. It implements [foreign.Timed].
func (c *Client) Time() foreign.Time {
	t := c.time.Load()
	if t == nil || !t.clock.Taken() {
		return nil
	}
	return t
}

// Begins has the client's time begin so long after the clock's beginning, also before a process of it has taken the clock. It implements
// [foreign.Timed].
func (c *Client) Begins(since time.Duration) {
	if t := c.time.Load(); t != nil {
		t.clock.Set(since)
	}
}

// Set has it be so long after the clock's beginning.
func (t *ownTime) Set(since time.Duration) { t.clock.Set(since) }

// Rest reports whether the client is at rest. It is not while a call is on its way to it, or an answer from it.
func (t *ownTime) Rest(calling bool) (rests bool, next time.Duration) {
	if t.client.onItsWay(calling) {
		return false, 0
	}
	rests, next = t.clock.Rest()
	return rests && !t.client.onItsWay(calling), next
}

// onItsWay reports whether the client has yet to read something of its call, or we of what it answers. calling says that a call
// is under way, as far as its caller knows.
func (c *Client) onItsWay(calling bool) bool {
	c.mu.Lock()
	written := c.written == c.number && (c.waiting != nil) == calling
	c.mu.Unlock()
	return !written || c.child.unread() || c.output.unread()
}

// endTime lets go of the clock.
func (c *Client) endTime() error {
	if t := c.time.Swap(nil); t != nil {
		return t.clock.Close()
	}
	return nil
}
