package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// answer interprets the answer of a completed operation.
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
		// The limit of this caller may be reached although the lock allows more holders in general.
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

// granted handles an acquire that was granted.
func (r *normaliser) granted(c *client, k *operation) {
	k.effect = takes
	k.link, c.grants = c.grants, c.call
	r.unnamed = r.unnamed || k.slot == history.AnySlot
	r.named = r.named || k.slot != history.AnySlot
	r.follow(k, c.call)
	r.unknownSession(c, k)
}

// unknownSession handles a grant to a client whose connection ended, or may have ended, before the answer. The slot
// was granted before that, or on a new connection. In the second case the history knows the client by the new number,
// and the end of that connection stays unknown.
func (r *normaliser) unknownSession(c *client, k *operation) {
	switch {
	case c.ended:
		r.setMayExpire(k, k.inv)
	case c.gone != none:
		r.setMayExpire(k, c.gone)
	case !c.late:
		return
	}
	if r.h.GoneMayFree { // the client continues under its number
		return
	}
	r.unknownSessions = append(r.unknownSessions, c.call)
}

// follow notes the previous take of the slot that a call takes.
func (r *normaliser) follow(k *operation, i int32) {
	slot := r.numbered(k.slot)
	for int(slot) >= len(r.last) {
		r.last = append(r.last, make([]int32, int(slot)+1-len(r.last))...)
	}
	k.after = r.last[slot] - 1
	r.last[slot] = i + 1
}

// quits notes that a call may lose its slot from an event on, if the slot was removed.
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

// expires notes from which event on a call may lose its slot, and why.
func (r *normaliser) expires(k *operation, from int32, why traits) {
	if r.roll != nil {
		r.roll.expires(r, k, from)
	}
	k.exit = min(k.exit, from)
	k.traits |= why
}

// verified handles an answered verify. If the end of a connection may free a slot or not, a verify that says held
// after such an end takes the slot like an acquire. Its client still had the slot, which equals losing it just then,
// or has reclaimed it.
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
		// A no without a reason does not say whether the slot was given up.
		r.setMayExpire(r.call(g), k.inv)
	}
}

// gaveUp handles a verify that saw its slot gone.
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

// releasedByAnyone handles a release of any client's hold. g is the client's own grant, if it has one.
func (r *normaliser) releasedByAnyone(c *client, k *operation, g int32) {
	k.effect = freesAny
	if g != none {
		k.slot = max(k.slot, r.call(g).slot)
		r.drop(c, g)
	}
}

// about makes a call concern the slot that grant g took. Without a grant, only an unanswered acquire of the client
// can have taken the slot, or an acquire on a connection with another number.
func (r *normaliser) about(c *client, k *operation, g int32, what effect) {
	k.link = g
	switch {
	case g != none && c.asked > g && c.gone != none && what == findsHeld:
		// The client may lose it during the call, or have it by a later acquire.
	case g != none:
		k.effect, k.slot = what, r.call(g).slot
	case c.asked != none:
		k.effect, k.traits, r.unproven = what, k.traits|unproven, true
		if what == frees && (c.ended || c.gone != none) {
			k.traits |= partial // the client may have lost it before
		}
	case r.elsewhere(c, k.slot):
	default:
		k.effect = impossible
	}
}

// perhapsFreed handles a call that may have returned a slot without a known grant: during the call if it saw the slot
// gone, otherwise at any time.
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

// elsewhere reports whether a client may hold a slot that it acquired under another process number. If so, the
// history does not say when it loses the slot.
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

// grant is the client's latest call by which it may hold the slot, or any slot if slot is [AnySlot].
func (r *normaliser) grant(c *client, slot uint16) int32 {
	for g := c.grants; g != none; g = r.call(g).link {
		s := r.call(g).slot
		if s != slot && slot != history.AnySlot && s != history.AnySlot {
			continue
		}
		if c.asked > g && c.gone == none && r.call(g).traits&(lost|mayExpire) != 0 {
			return none // it may have it by a later, unanswered acquire
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
