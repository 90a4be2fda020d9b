package subprocess

import (
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate/clock"
)

// ownTime is the virtual time of one client. It implements [foreign.Time].
type ownTime struct {
	client *Client
	clock  *clock.Client
}

var (
	_ foreign.Timed = (*Client)(nil)
	_ foreign.Time  = (*ownTime)(nil)
)

// Time returns the client's virtual time, or nil if its program does not use the virtual clock. It implements
// [foreign.Timed].
func (c *Client) Time() foreign.Time {
	t := c.time.Load()
	if t == nil || !t.clock.Taken() {
		return nil
	}
	return t
}

// Begins sets the client's time at the start of a run, even if no process uses the clock yet. since is the time after
// the clock's beginning. It implements [foreign.Timed].
func (c *Client) Begins(since time.Duration) {
	if t := c.time.Load(); t != nil {
		t.clock.Set(since)
	}
}

// Set sets the time to since after the clock's beginning.
func (t *ownTime) Set(since time.Duration) { t.clock.Set(since) }

// Rest reports whether the client is at rest, as [clock.Client.Rest] does. While a call to it, or an answer from it,
// is on its way, it is not at rest.
func (t *ownTime) Rest(calling bool) (rests bool, next time.Duration) {
	if t.client.onItsWay(calling) {
		return false, 0
	}
	rests, next = t.clock.Rest()
	return rests && !t.client.onItsWay(calling), next
}

// onItsWay reports whether the client has not yet read all of its call, or this process has not yet read all of the
// client's answer. calling is true if the caller has a call under way.
func (c *Client) onItsWay(calling bool) bool {
	c.mu.Lock()
	written := c.written == c.number && (c.waiting != nil) == calling
	c.mu.Unlock()
	return !written || c.child.unread() || c.output.unread()
}

// endTime closes the client's virtual clock, if it has one.
func (c *Client) endTime() error {
	if t := c.time.Swap(nil); t != nil {
		return t.clock.Close()
	}
	return nil
}
