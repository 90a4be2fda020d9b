package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// answer takes a completed operation for what it says of the lock.
func (r *normaliser) answer(c *client, k *operation, e *history.Event) {
	switch op := e.F.Op(); op {
	case lock.Acquire:
		r.acquired(c, k, e)
	case lock.Verify, lock.Refresh:
		r.verified(c, k, e)
	case lock.Release:
		r.released(c, k, e)
	case lock.Count:
		if e.Type == history.OK {
			k.effect, k.n, r.named = findsCount, e.Slots, true
		}
	case lock.Wait:
		if e.Type == history.OK && k.slot != history.AnySlot {
			k.effect, r.named, r.nondeterministic = findsFree, true, true
		}
	case lock.Create, lock.Add, lock.Remove, lock.Destroy:
		r.administered(k, e)
	}
}

func (r *normaliser) acquired(c *client, k *operation, e *history.Event) {
	switch {
	case e.Type == history.OK:
		r.granted(c, k)
	case e.Reason == lock.Full && k.n > 0 && int(k.n) < max(r.admin.most, r.permits):
		// As many as its caller's limit may have held the lock, and not all that may.
	case e.Reason == lock.Full:
		k.effect = findsFull
	case e.Reason == lock.Withdrawn && k.slot == history.AnySlot:
		// The slot that others saw taken is not known.
	case e.Reason == lock.Withdrawn && c.gone != none:
		// The client lost its slot with its connection.
		k.effect, k.ret, c.asked, r.named = mayTake, c.gone, c.call, true
	case e.Reason == lock.Withdrawn:
		k.effect, r.named, r.nondeterministic = claims, true, true
	}
}

// granted is an acquire that was answered with yes.
func (r *normaliser) granted(c *client, k *operation) {
	k.effect = takes
	k.link, c.grants = c.grants, c.call
	r.unnamed = r.unnamed || k.slot == history.AnySlot
	r.named = r.named || k.slot != history.AnySlot
	r.follow(k, c.call)
	r.unknownSession(c, k)
}

// unknownSession is a grant to a client whose connection ended, or may have ended, before the answer. The slot was
// granted before that, or on a new connection. In the second case the history knows the client by the new number, and
// the end of the connection stays unknown.
func (r *normaliser) unknownSession(c *client, k *operation) {
	switch {
	case c.ended:
		r.setMayExpire(k, k.inv)
	case c.gone != none:
		r.setMayExpire(k, c.gone)
	case !c.late:
		return
	}
	if r.h.GoneMayFree { // its client goes on under its number
		return
	}
	r.unknownSessions = append(r.unknownSessions, c.call)
}

// follow notes which take of a slot follows which.
func (r *normaliser) follow(k *operation, i int32) {
	slot := r.numbered(k.slot)
	for int(slot) >= len(r.last) {
		r.last = append(r.last, make([]int32, int(slot)+1-len(r.last))...)
	}
	k.after = r.last[slot] - 1
	r.last[slot] = i + 1
}

// quits notes that what a call took may be lost from an event on, if its slot is gone.
func (r *normaliser) quits(k *operation, from int32) {
	if r.roll == nil || r.roll.known.shrinks {
		k.quit = min(k.quit, from)
	}
}

// setMayExpire records that an operation's slot may be lost at any moment from an event on.
func (r *normaliser) setMayExpire(k *operation, from int32) {
	r.expires(k, from, mayExpire)
	r.nondeterministic = true
	if k.exit < k.ret && k.effect == takes {
		k.traits |= interrupted
	}
}

// expires notes from which event on what a call took may be lost, and for which reason.
func (r *normaliser) expires(k *operation, from int32, why traits) {
	if r.roll != nil {
		r.roll.expires(r, k, from)
	}
	k.exit = min(k.exit, from)
	k.traits |= why
}

// verified handles an answered verify. If the end of a connection may free a slot or not, a verify that says held
// after such an end takes the slot like an acquire. Its client still had it, which equals losing it just then, or has
// reclaimed it.
func (r *normaliser) verified(c *client, k *operation, e *history.Event) {
	g := r.grant(c, k.slot)
	switch {
	case e.Type != history.OK && r.h.GoneMayFree && g != none:
		r.setMayExpire(r.call(g), k.inv)
	case e.Type != history.OK:
	case e.Held && r.h.GoneMayFree && g != none && r.call(g).traits.has(mayExpire):
		r.drop(c, g)
		r.granted(c, k)
	case e.Held:
		r.about(c, k, g, findsHeld)
		if c.gone != none {
			k.traits |= interrupted
		}
		r.nondeterministic = r.nondeterministic || c.gone != none || g != none && r.call(g).ends() != endless
	case g == none:
		r.perhapsFreed(c, k, e.Reason)
	case e.Reason == lock.Removed:
		r.gaveUp(c, k, g)
	default:
		// It says no and does not say why: whether it gave the slot up is not known.
		r.setMayExpire(r.call(g), k.inv)
	}
}

// gaveUp is a verify that saw its slot gone.
func (r *normaliser) gaveUp(c *client, k *operation, g int32) {
	r.named = true
	r.about(c, k, g, leaves)
	r.quits(r.call(g), k.inv)
	r.drop(c, g)
}

func (r *normaliser) released(c *client, k *operation, e *history.Event) {
	if e.Type != history.OK {
		return
	}
	g := r.grant(c, k.slot)
	if r.releases == ByAnyone {
		r.releasedByAnyone(c, k, g)
		return
	}
	r.about(c, k, g, frees)
	if g != none {
		r.call(g).exit = min(r.call(g).exit, k.inv)
		r.drop(c, g)
	}
}

// releasedByAnyone is a release of whatever is held, though it be the client's by grant g.
func (r *normaliser) releasedByAnyone(c *client, k *operation, g int32) {
	k.effect = freesAny
	if g != none {
		k.slot = max(k.slot, r.call(g).slot)
		r.drop(c, g)
	}
}

// about makes a call one about the slot that grant g took. Without one, only an unanswered acquire
// of the client can have taken it; or one that was granted on a connection of another number.
func (r *normaliser) about(c *client, k *operation, g int32, what effect) {
	k.link = g
	switch {
	case g != none && c.asked > g && c.gone != none && what == findsHeld:
		// It may have lost it in the course of the call, or have it by a later acquire.
	case g != none:
		k.effect, k.slot = what, r.call(g).slot
	case c.asked != none:
		k.effect, k.traits, r.unproven = what, k.traits|unproven, true
		if what == frees && (c.ended || c.gone != none) {
			k.traits |= partial // it may have lost it before
		}
	case r.elsewhere(c, k.slot):
	default:
		k.effect = impossible
	}
}

// perhapsFreed is a call that may have given back a slot without a known grant: during the call if it saw the slot gone,
// otherwise at any time.
func (r *normaliser) perhapsFreed(c *client, k *operation, why lock.Reason) {
	if c.asked == none {
		r.elsewhere(c, k.slot)
		return
	}
	k.effect, k.traits, r.unproven = frees, k.traits|unproven|partial, true
	if why != lock.Removed {
		k.ret = endless
	}
}

// elsewhere reports whether a client may have a slot under another process number, by which it acquired it. If so, the
// history does not tell when it loses it.
func (r *normaliser) elsewhere(c *client, slot uint16) bool {
	for i := len(r.unknownSessions) - 1; i >= 0; i-- {
		g := r.call(r.unknownSessions[i])
		if other := &r.clients.list[g.client] != c; other && (g.slot == slot || slot == history.AnySlot) {
			if !g.traits.has(mayExpire) {
				r.setMayExpire(g, g.inv)
			}
			return true
		}
	}
	return false
}

// grant is the client's latest call by which it may have a slot, or any if slot is [AnySlot].
func (r *normaliser) grant(c *client, slot uint16) int32 {
	for g := c.grants; g != none; g = r.call(g).link {
		s := r.call(g).slot
		if s != slot && slot != history.AnySlot && s != history.AnySlot {
			continue
		}
		if c.asked > g && c.gone == none && r.call(g).traits&(lost|mayExpire) != 0 {
			return none // it may have it by a later acquire, which was not answered
		}
		return g
	}
	return none
}

// drop forgets a grant of the client that is over.
func (r *normaliser) drop(c *client, g int32) {
	at := &c.grants
	for *at != g {
		at = &r.call(*at).link
	}
	*at = r.call(g).link
}
