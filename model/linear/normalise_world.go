package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// world handles an event of the nemesis, such as a crash or the end of a connection. Such events bound the time in
// which an unanswered operation may take effect.
func (r *normaliser) world(i int32, e *history.Event) {
	switch e.F {
	case history.Crash:
		if ci := r.clients.find(e.Target); ci != none {
			c := &r.clients.list[ci]
			c.died = c.died || c.gone == none
			r.mayLose(c, c.heard)
			r.crashed(i, c)
		}
	case history.Gone:
		r.witnessed = true
		if r.h.GoneMayFree {
			r.perhapsEnded(i, e.Target)
			return
		}
		ci := r.clients.find(e.Target)
		if ci == none {
			r.unheardOf(i, e.Target)
			return
		}
		r.mark(i, goneOf(ci))
		r.ended(i, &r.clients.list[ci])
	case history.Lapse, history.Lost:
		r.witnessed = true
		r.perhapsEnded(i, e.Target)
	case history.Restart:
		r.witnessed = true
		if r.h.GoneMayFree {
			for ci := range r.clients.list {
				r.perhapsEnded(i, r.clients.list[ci].process)
			}
			return
		}
		r.clients.late = true
		r.mark(i, restarted)
		for ci := range r.clients.list {
			r.ended(i, &r.clients.list[ci])
		}
	}
}

// crashed handles the crash of a client. If ends of connections are recorded late, the client may lose its slots at any
// moment from now on.
func (r *normaliser) crashed(i int32, c *client) {
	if !r.h.GoneLate || c.crashed != endless {
		return
	}
	c.crashed = i
	for g := c.grants; g != none; g = r.call(g).link {
		r.setMayExpire(r.call(g), i)
	}
	for p := c.pending; p != none; p = r.pending[p].next {
		if k := r.call(r.pending[p].call); k.effect == mayTake {
			r.setMayExpire(k, i)
		}
	}
}

// perhapsEnded handles the end of a connection that may free the slots of its client, but need not (GoneMayFree).
func (r *normaliser) perhapsEnded(i, process int32) {
	ci := r.clients.find(process)
	if ci == none {
		return
	}
	c := &r.clients.list[ci]
	if c.inv != none && c.gone == none {
		c.gone = i
	}
	for g := c.grants; g != none; g = r.call(g).link {
		r.setMayExpire(r.call(g), i)
	}
}

// unheardOf handles the end of a connection whose process has called nothing. A grant on an unknown connection may have
// been on this one, and may then be lost now.
func (r *normaliser) unheardOf(i, process int32) {
	if process >= 0 {
		r.clients.list[r.clients.index(process)].ended = true
	}
	for _, g := range r.unknownSessions {
		if k := r.call(g); k.exit == endless {
			r.setMayExpire(k, i)
		}
	}
}

// ended handles the end of a client's connection. The client's slots become free, and its unanswered operations can no
// longer take effect.
func (r *normaliser) ended(i int32, c *client) {
	switch {
	case c.inv == none:
		c.ended = true
	case c.gone == none:
		c.gone = i
	}
	for g := c.grants; g != none; g = r.call(g).link {
		if k := r.call(g); !k.traits.has(lost) {
			k.traits, k.lostAt = k.traits|lost, i
		}
	}
	for p := c.pending; p != none; p = r.pending[p].next {
		k := r.call(r.pending[p].call)
		if r.roll != nil {
			r.roll.changes(k)
		}
		k.ret = i
		r.bounded(k)
	}
	c.pending = none
}

// bounded handles an unanswered call that can no longer take effect. An administrative operation is then over, and
// counts as not successful.
func (r *normaliser) bounded(k *operation) {
	if k.op.Administrative() {
		r.admin.end(k.op, 0, false)
	}
}

// mayLose records that a client may have lost its connection, since it crashed, was told so, or got no answer. If the
// history does not record ends of connections, the client may have lost its slots at any moment since the given event.
func (r *normaliser) mayLose(c *client, since int32) {
	if since == none {
		return
	}
	for g := c.grants; g != none; g = r.call(g).link {
		from := max(since, r.call(g).ret)
		if r.roll == nil {
			r.uncertain = append(r.uncertain, mayLose{call: g, from: from})
		} else if !r.roll.known.witnessed {
			r.expires(r.call(g), from, loose)
		}
	}
}

// lossSince is the event since which a client may have lost what it holds, or none; why is the reason why its
// operation has no answer. For a lost connection or a crash it is the client's last answer. For a verify it is the
// invocation, since the client may have learnt of a loss. Another missing answer says nothing about earlier holds.
func (c *client) lossSince(why lock.Reason) int32 {
	switch {
	case why.CutOff():
		return c.heard
	case c.f.Op().AsksHeld():
		return c.inv
	}
	return none
}

// unanswered handles an operation of a client that ends without an answer. why is the reason, if one was given.
func (r *normaliser) unanswered(c *client, why lock.Reason) {
	if c.inv != none {
		r.mayLose(c, c.lossSince(why))
	}
	if c.call == none {
		c.inv = none
		return
	}
	k := r.call(c.call)
	k.traits |= partial
	r.unknown(c, k)
	if k.effect == mayTake && c.crashed != endless {
		r.setMayExpire(k, c.crashed)
	}
	switch {
	case k.effect == noEffect:
		r.mark(k.inv, none)
	case r.h.GoneMayFree: // no event bounds the operation: the client may continue on another connection
	case k.effect == mayTake && c.elsewhere(why):
		r.setMayExpire(k, k.inv)
	case c.gone != none:
		k.ret = c.gone
		r.bounded(k)
	default:
		r.pending = append(r.pending, pending{call: c.call, next: c.pending})
		c.pending = int32(len(r.pending) - 1)
	}
	c.inv, c.call = none, none
}

// elsewhere reports whether a client may have continued its operation on another connection. This is possible if its
// connection ended while the client was alive, and the client did not give up for that reason.
func (c *client) elsewhere(why lock.Reason) bool {
	if c.ended {
		return true
	}
	return c.gone != none && !c.died && !why.Unheard()
}

// unknown sets the effect that an unanswered operation may have had.
func (r *normaliser) unknown(c *client, k *operation) {
	switch op := k.op; op {
	case lock.Acquire:
		k.effect, c.asked = mayTake, c.call
	case lock.Verify, lock.Refresh, lock.Release:
		r.perhapsLost(c, k, op)
	case lock.Create, lock.Add, lock.Remove, lock.Destroy:
		r.changes(k, op)
	}
}

// perhapsLost handles an unanswered verify or release, which may have given the client's slot up. A verify gives it up
// only if it saw that the slot does not exist.
func (r *normaliser) perhapsLost(c *client, k *operation, op lock.Op) {
	g := r.grant(c, k.slot)
	if op == lock.Release {
		g = r.release(c, k.slot)
	}
	switch {
	case op == lock.Release && r.releases == ByAnyone:
		k.effect = freesAny
		return
	case g == none && op == lock.Release:
		r.perhapsFreed(c, k, lock.NoReason)
		return
	case g == none:
		r.elsewhere(c, k.slot) // if slots are removed, an unanswered acquire may lose its slot too
		return
	}
	t := r.call(g)
	k.link, k.slot = g, t.slot
	if r.h.GoneMayFree {
		r.setMayExpire(t, k.inv)
	}
	switch {
	case op.AsksHeld() && r.h.GoneMayFree: // the verify may have reclaimed the slot
		k.effect = mayTake
	case op == lock.Release:
		k.effect = frees
		t.exit, t.traits = min(t.exit, k.inv), t.traits|given
	case !c.ended:
		k.effect = leaves
		r.quits(t, k.inv)
	}
}
