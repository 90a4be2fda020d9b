package clock

import (
	"sync/atomic"
	"time"
)

// Rest reports whether the client is at rest: it does nothing until it receives something or time passes. next is the
// virtual time after which the client acts by itself, for example because a sleep ends; 0 means never.
//
// At rest, every thread sleeps. The system counts how often each thread runs. Rest reads these counts, checks that
// every thread is asleep, lists the threads, and reads the counts again. A thread whose count is the same has slept
// since the check. If all counts are the same and no thread was added, all threads slept when they were listed, as
// only a running thread can create another.
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

// waits returns the rows of the threads that wait until a virtual time, by thread number. It also starts watching new
// processes.
func (c *Client) waits() map[int32]row {
	waits := make(map[int32]row)
	for _, r := range c.rows() {
		if c.processes[r.Process] == nil {
			c.processes[r.Process] = newProcess(r.Process)
		}
		if r.Until != 0 && c.processes[r.Process].threads[r.Thread] != nil { // the row may be of an ended thread
			waits[r.Thread] = r
		}
	}
	return waits
}

// soonest returns the time until the first of the waiting threads continues. rests is false if a thread is about to
// continue.
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

// count records how often each thread has run, and returns true. If the first thread of a process is awake, it records
// nothing and returns false.
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

// sleeps reports whether all threads of the client sleep.
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

// complete lists the threads again. It returns false if threads were added or have ended, and updates the list.
func (c *Client) complete() bool {
	complete := true
	for _, p := range c.processes {
		complete = p.list() && complete
	}
	return complete
}

// unchanged reports whether no thread has run since the last call of count.
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
