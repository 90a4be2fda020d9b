package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// answer interprets the answer of an operation: it sets the effect of its call.
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
		// The caller's own limit may be reached, although other clients could still acquire a slot.
	case e.Reason == lock.Full:
		k.effect = findsFull
	case e.Reason == lock.Withdrawn && k.slot == history.AnySlot:
		// It is not known which slot the acquire took and gave back.
	case e.Reason == lock.Withdrawn && c.gone != none:
		// The client lost its slot together with its connection.
		k.effect, k.ret, c.asked, r.named = mayTake, c.gone, c.call, true
	case e.Reason == lock.Withdrawn:
		k.effect, r.named, r.nondeterministic = claims, true, true
	}
}

// granted handles an acquire that was answered with a grant.
func (r *normaliser) granted(c *client, k *operation) {
	k.effect = takes
	k.link, c.grants = c.grants, c.call
	r.unnamed = r.unnamed || k.slot == history.AnySlot
	r.named = r.named || k.slot != history.AnySlot
	r.follow(k, c.call)
	r.unknownSession(c, k)
}

// unknownSession handles a grant to a client whose connection may have ended before the answer. The slot was granted
// before that end, or on a new connection. A new connection has another process number, so the moment at which it ends
// is unknown.
func (r *normaliser) unknownSession(c *client, k *operation) {
	switch {
	case c.ended:
		r.setMayExpire(k, k.inv)
	case c.gone != none:
		r.setMayExpire(k, c.gone)
	case !c.late:
		return
	}
	if r.h.GoneMayFree { // the client keeps its number on a new connection
		return
	}
	r.unknownSessions = append(r.unknownSessions, c.call)
}

// follow links a grant to the previous grant of the same slot.
func (r *normaliser) follow(k *operation, i int32) {
	slot := r.numbered(k.slot)
	for int(slot) >= len(r.last) {
		r.last = append(r.last, make([]int32, int(slot)+1-len(r.last))...)
	}
	k.after = r.last[slot] - 1
	r.last[slot] = i + 1
}

// quits records that a call may have lost its slot at any moment since an event. The loss is possible only if the slot
// did not exist at some moment since that event.
func (r *normaliser) quits(k *operation, from int32) {
	if r.roll == nil || r.roll.known.shrinks {
		k.quit = min(k.quit, from)
	}
}

// setMayExpire records that a call may lose its slot at any moment since an event, for example since its connection
// ended.
func (r *normaliser) setMayExpire(k *operation, from int32) {
	r.expires(k, from, mayExpire)
	r.nondeterministic = true
	if k.exit < k.ret && k.effect == takes {
		k.traits |= interrupted
	}
}

// expires records since which event a call may lose its slot, and the trait that says why.
func (r *normaliser) expires(k *operation, from int32, why traits) {
	if r.roll != nil {
		r.roll.expires(r, k, from)
	}
	k.exit = min(k.exit, from)
	k.traits |= why
}

// verified handles a verify that was answered. In some histories, the end of a connection need not free its slots
// (GoneMayFree). A verify that says held after such an end then counts as another acquire of the slot: either the
// client reclaimed the slot, or it still had it.
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
		// "Not held" without a reason does not say whether the client gave the slot up.
		r.setMayExpire(r.call(g), k.inv)
	}
}

// gaveUp handles a verify that found the slot of grant g removed. The client then gives the slot up.
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
	g := r.release(c, k.slot)
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

// releasedByAnyone handles a release where any client may release any slot. g is the client's own grant, or none.
func (r *normaliser) releasedByAnyone(c *client, k *operation, g int32) {
	k.effect = freesAny
	if g != none {
		k.slot = max(k.slot, r.call(g).slot)
		r.drop(c, g)
	}
}

// about sets the effect of a verify or release on the slot that grant g took. If there is no grant, the slot can only
// have been taken by an unanswered acquire of the client, or under another process number. Otherwise the answer is
// impossible.
func (r *normaliser) about(c *client, k *operation, g int32, what effect) {
	k.link = g
	switch {
	case g != none && c.asked > g && c.gone != none && what == findsHeld:
		// The client may lose the slot during the call, or have it from a later, unanswered acquire.
	case g != none:
		k.effect, k.slot = what, r.call(g).slot
	case c.asked != none:
		k.effect, k.traits, r.unproven = what, k.traits|unproven, true
		if what == frees && (c.ended || c.gone != none) {
			k.traits |= partial // the client may have lost the slot before
		}
	case r.elsewhere(c, k.slot):
	default:
		k.effect = impossible
	}
}

// perhapsFreed handles a call of a client without a known grant that may have returned a slot. If the client saw the
// slot removed, the slot was returned during the call. Otherwise it may be returned at any time.
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

// elsewhere reports whether a client may hold a slot that it acquired under another process number. If so, it records
// that the slot may be lost at any moment, since the history does not say when.
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

// grant is the latest call by which the client may hold a slot; none if there is none. The slot may be [AnySlot].
func (r *normaliser) grant(c *client, slot uint16) int32 {
	for g := c.grants; g != none; g = r.call(g).link {
		s := r.call(g).slot
		if s != slot && slot != history.AnySlot && s != history.AnySlot {
			continue
		}
		if c.asked > g && c.gone == none && r.call(g).traits&(lost|mayExpire) != 0 {
			return none // the client may have the slot from a later, unanswered acquire
		}
		return g
	}
	return none
}

// release is the grant that a release of the slot may end, as grant finds it. Of several it is one that no unanswered
// release may have ended before.
func (r *normaliser) release(c *client, slot uint16) int32 {
	first := r.grant(c, slot)
	for g := first; g != none; g = r.call(g).link {
		if s := r.call(g).slot; !r.call(g).traits.has(given) && (s == slot || slot == history.AnySlot || s == history.AnySlot) {
			return g
		}
	}
	return first
}

// drop forgets a grant of the client that is over.
func (r *normaliser) drop(c *client, g int32) {
	at := &c.grants
	for *at != g {
		at = &r.call(*at).link
	}
	*at = r.call(g).link
}
