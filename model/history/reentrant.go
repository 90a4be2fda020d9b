package history

import "github.com/lockproof/lockproof/model/lock"

// Reentrant converts a history of a reentrant lock, which its holder may acquire up to most times and must release as
// often, to a history of an ordinary lock. An acquire by a certain holder becomes a verify that says held, and so
// does a release that is not the last. A release that is not the last and has no answer becomes an acquire without
// effect. A release that may have been the last gets an unknown outcome. An acquire beyond most stays an acquire, so
// that the history is illegal.
func Reentrant(h *History, most int) *History {
	out := *h
	out.Events = append([]Event(nil), h.Events...)
	r := reentrant{events: out.Events, most: most, counts: make(map[use]*count), clients: make(map[int32][]*count)}
	for i := range r.events {
		r.event(i)
	}
	for _, c := range r.counts {
		if c.calling != none {
			r.unanswered(c, nil)
		}
	}
	return &out
}

// none is an index that stands for no event.
const none = -1

// count is how often a client has acquired a lock without releasing it: at least least and at most most times.
type count struct {
	least, most int
	calling     int // index of the invocation of the operation under way, or none
}

type reentrant struct {
	events []Event
	most   int
	counts map[use]*count
	// clients are, by process, its counts: one for each lock that it uses.
	clients map[int32][]*count
}

func (r *reentrant) event(i int) {
	e := &r.events[i]
	if e.Process == Nemesis {
		r.world(e)
		return
	}
	c := r.counts[use{e.Process, e.Lock}]
	if c == nil {
		c = &count{calling: none}
		r.counts[use{e.Process, e.Lock}] = c
		r.clients[e.Process] = append(r.clients[e.Process], c)
	}
	switch {
	case e.Type == Invoke:
		c.calling = i
		return
	case c.calling == none:
		return
	case e.Type == Info:
		r.unanswered(c, e)
	case e.Type == OK:
		r.completed(c, e)
	}
	if e.Reason.CutOff() || e.F.Op().AsksHeld() && (e.Type != OK || !e.Held) { // without an answer, it may have learnt of a loss
		c.least = 0
	}
	c.calling = none
}

// world handles an event of the environment, which may end the holds of one client or of all.
func (r *reentrant) world(e *Event) {
	switch {
	case e.F == Restart:
		for _, c := range r.counts {
			c.least = 0
		}
	case e.F.Whose() && e.F != Pause:
		for _, c := range r.clients[e.Target] {
			c.least = 0
		}
	}
}

// completed handles an operation that succeeded.
func (r *reentrant) completed(c *count, e *Event) {
	switch op := e.F.Op(); {
	case op == lock.Acquire && e.Held:
		if c.least > 0 && c.least < r.most {
			r.holds(c, e)
		}
		c.least, c.most = min(c.least, r.most-1)+1, min(c.most, r.most-1)+1
	case op == lock.Release:
		switch {
		case c.least > 1:
			r.holds(c, e)
		case c.most > 1:
			e.Type = Info
		}
		c.least, c.most = max(c.least-1, 0), max(c.most-1, 0)
	}
}

// holds replaces an operation by a verify that says held.
func (r *reentrant) holds(c *count, e *Event) {
	r.events[c.calling].F, r.events[c.calling].Slots = F(lock.Verify), 0
	e.F, e.Held, e.Token = F(lock.Verify), true, 0
}

// keeps turns an unanswered release that is not the last into an acquire that failed, which has no effect either.
func (r *reentrant) keeps(c *count, e *Event) {
	r.events[c.calling].F = F(lock.Acquire)
	if e != nil {
		e.F, e.Type = F(lock.Acquire), Fail
	}
}

// unanswered handles an operation with an unknown outcome. e is its completion; nil if there is none.
func (r *reentrant) unanswered(c *count, e *Event) {
	switch r.events[c.calling].F.Op() {
	case lock.Acquire:
		c.most = min(c.most+1, r.most)
	case lock.Release:
		if c.least > 1 {
			r.keeps(c, e)
		}
		c.least = max(c.least-1, 0)
	}
}
