package clock

import (
	"sync/atomic"
	"time"
)

// Rest reports whether the client is at rest: it does nothing before something reaches it or time passes. next is in how much time it
// then does something by itself, 0 for never.
//
// At rest, every thread sleeps. A thread sleeps at the moment at which the system says so, and from then on as long as it is not
// counted as having run again. So each is counted, then found asleep, then the threads are listed, and then each is counted again:
// if no count has changed and none has been added, all slept when they were listed. A new thread is made by one that runs.
func (c *Client) Rest() (rests bool, next time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.page == nil {
		return false, 0
	}
	now := atomic.LoadInt64(c.now())
	before := c.waits()
	if !c.count(before) || !c.sleeps() || !c.complete() {
		return false, 0
	}
	after := c.waits()
	if len(after) != len(before) || !c.unchanged(after) {
		return false, 0
	}
	if c.byMachine(after) {
		c.machine.Store(true)
		return false, 0
	}
	return soonest(after, now)
}

// waits are the rows of threads that wait until some time, by thread. It also takes processes in that are new.
func (c *Client) waits() map[int32]row {
	waits := make(map[int32]row)
	for _, r := range c.rows() {
		if c.processes[r.Process] == nil {
			c.processes[r.Process] = newProcess(r.Process)
		}
		if r.Until != 0 && c.processes[r.Process].threads[r.Thread] != nil { // a thread that has ended may leave its row behind
			waits[r.Thread] = r
		}
	}
	return waits
}

// soonest is in how much time the first of those who wait goes on. It is false where one is about to.
func soonest(waits map[int32]row, now int64) (rests bool, next time.Duration) {
	for _, r := range waits {
		if r.Seen != now || r.Until <= now {
			return false, 0
		}
		if in := time.Duration(r.Until - now); next == 0 || in < next {
			next = in
		}
	}
	return true, next
}

// count notes how often each thread has run. It is false where the first thread of a process is awake: nothing more has to be
// looked at then.
func (c *Client) count(waits map[int32]row) bool {
	for _, p := range c.processes {
		if !p.sleeps(p.number) {
			return false
		}
	}
	for _, p := range c.processes {
		for id, t := range p.threads {
			t.counted = t.ran(id, waits)
		}
	}
	return true
}

// sleeps reports whether all threads sleep.
func (c *Client) sleeps() bool {
	for _, p := range c.processes {
		for id := range p.threads {
			if !p.sleeps(id) {
				return false
			}
		}
	}
	return true
}

// complete reports whether all threads are known. Those that were not are from now on.
func (c *Client) complete() bool {
	complete := true
	for _, p := range c.processes {
		complete = p.list() && complete
	}
	return complete
}

// unchanged reports whether no thread has run since it was counted.
func (c *Client) unchanged(waits map[int32]row) bool {
	for _, p := range c.processes {
		for id, t := range p.threads {
			if t.ran(id, waits) != t.counted {
				return false
			}
		}
	}
	return true
}
