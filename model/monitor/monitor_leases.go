package monitor

import (
	"math"
	"math/bits"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// These are fields of a client's watch that leases need in addition. They are ignored for locks without [lock.Traits].
type (
	// lease is a client's last grant according to the servers. It can outlive a grant of the slot to another client.
	lease struct {
		leased bool  // the lease has not ended, and the client has neither released it nor acknowledged its loss
		on     uint8 // the slot
		until  int32 // its end, in virtual milliseconds since the execution began; 0 is the end of the session
		turn   uint8 // its rank among the lock's live grants, by age
		stolen bool  // the client took the slot from the holder of a live lease
		over   bool  // the believed hold, or the one about to be reported, ended with its lease or session
		timed  bool  // it ended by time
		stated uint8 // the limit or priority that the client's last acquire stated
	}
	// asking is the state of one call.
	asking struct {
		crowded   bool // another client had an operation under way
		sated     bool // at some moment the lock had all the holders that it may have
		beaten    bool // at some moment these all had the same or a higher priority
		renewed   bool // a command of the refresh extended the lease
		shortened bool // the refresh moved the end of the lease to an earlier time
		revived   bool // the refresh granted the client a slot that it did not have
		expired   bool // the lease expired during the refresh
	}
	// timing is the state of a client's clock.
	timing struct {
		disturbed bool  // a fault has changed it
		ahead     int32 // lead over the servers' clock in milliseconds; no verdict needs it, so no search keeps it
	}
)

// live reports whether the lease of a client's last grant is live.
func (m *Monitor) live(w *watch) bool {
	return w.leased && (w.until == 0 || int64(w.until) > m.now)
}

// stale reports whether a client's belief has outlived the session or lease of its grant.
func (m *Monitor) stale(w *watch) bool {
	if m.traits.Has(lock.Leases) {
		return w.over || m.outlived(w)
	}
	return !w.connected
}

// outlived reports whether the client's last grant would have ended by now, even if another client has taken the
// slot.
func (m *Monitor) outlived(w *watch) bool { return w.leased && w.on == w.believed && m.lapsed(w.until) }

// forgiven reports whether a stale belief is no violation. A client that ends its beliefs by its own clock must be in
// time, unless a fault has changed that clock.
func (m *Monitor) forgiven(w *watch) bool {
	return !m.traits.Has(lock.Deadlines) || !w.timed && !m.outlived(w) || w.disturbed
}

// lapsed reports whether the moment until, which is a lease's end, has passed.
func (m *Monitor) lapsed(until int32) bool { return until != 0 && int64(until) <= m.now }

// leases follows and judges the change of holders from state old to t. A command of client c changed the lock's
// state; 0 is no client.
func (m *Monitor) leases(l, c uint8, old, t *Truth) {
	for s := uint8(1); s <= Slots; s++ {
		was, is := old.Owner[s]&^HalfOpen, t.Owner[s]&^HalfOpen
		if was != 0 && was != is {
			m.parted(c, was, s, old)
		}
		switch {
		case is == 0:
		case is != was || t.Token[s] != old.Token[s]:
			m.granted(l, is, s, old, t)
		default:
			m.extended(is, s, old, t)
		}
	}
}

// tardy records that the hold just acquired was already over, if a fault has changed the client's clock.
func (w *watch) tardy(over bool) {
	if w.disturbed && over {
		w.over, w.timed = true, true
	}
}

// parted handles the loss of slot s by client was. The lease lives on unless it has ended or the client is giving it
// up.
func (m *Monitor) parted(c, was, s uint8, old *Truth) {
	w := &m.clients[was-1]
	lapsed := m.lapsed(old.Until[s])
	ended := old.Until[s] == 0 && m.ended&(1<<(was-1)) != 0
	if (w.believed == s || w.op == lock.Acquire && w.on == s) && (lapsed || ended) {
		w.over, w.timed = true, lapsed
	}
	w.expired = w.expired || w.op == lock.Refresh && w.arg == s && lapsed
	if w.on == s && (lapsed || ended || c == was || w.op == lock.Release) {
		w.leased = false
	}
}

// granted handles the grant of slot s to client is.
func (m *Monitor) granted(l, is, s uint8, old, t *Truth) {
	w := &m.clients[is-1]
	was := old.Owner[s] &^ HalfOpen
	robs := was != 0 && was != is && (old.Until[s] == 0 || int64(old.Until[s]) > m.now)
	if token := t.Token[s]; token != 0 {
		k := &m.locks[l]
		m.require(property.FencingMonotone, token > k.token, is, was, s, "its fencing token is no larger than one that was granted before")
		k.token = max(k.token, token)
	}
	if was == is {
		m.extended(is, s, old, t)
		return
	}
	if limit, any := m.limit(w, t); m.counted() && any && bits.OnesCount16(t.Taken) > bits.OnesCount16(old.Taken) {
		m.require(property.LimitRespected, bits.OnesCount16(t.Taken) <= limit, is, 0, 0, "granted though as many as may held the lock already")
	}
	if m.traits.Has(lock.Priorities) {
		if robs {
			m.require(property.PriorityRespected, t.Priority[s] > old.Priority[s], is, was, s, "took the lock from a holder of the same or a higher priority")
		}
	}
	if w.op == lock.Refresh && w.arg == s && w.mine&(1<<s) == 0 {
		w.revived = true
	}
	k := &m.locks[l]
	k.grants++
	w.lease = lease{leased: true, on: s, until: t.Until[s], turn: k.grants, stated: w.stated, stolen: robs}
	if m.traits.Has(lock.Leases) && !m.traits.Has(lock.Priorities) {
		m.respects(property.LeaseRespected, l, is, s, k.grants)
	}
}

// extended handles a lease that continues; its end may have moved.
func (m *Monitor) extended(is, s uint8, old, t *Truth) {
	w := &m.clients[is-1]
	if w.leased && w.on == s {
		w.until = t.Until[s]
	}
	if w.op == lock.Acquire && (!m.traits.Has(lock.Leases) || t.Until[s] != old.Until[s] || t.Token[s] != old.Token[s]) {
		m.confirm(!m.traits.Has(lock.Leases) || w.isLoose(w.lock, s)) // else the history has the client hold it all along
		w.granted |= 1 << s                                           // granted again
	}
	if w.op == lock.Refresh && w.arg == s {
		w.renewed = w.renewed || t.Until[s] > old.Until[s]
		w.shortened = w.shortened || t.Until[s] != 0 && t.Until[s] < old.Until[s]
	}
}

// respects requires that client c's hold of a slot conflicts with no live lease granted before the given turn.
func (m *Monitor) respects(p property.Property, l, c, s, turn uint8) {
	m.exercise(p)
	for i := range m.clients[:m.n] {
		if o := &m.clients[i]; uint8(i)+1 != c && o.lock == l && o.on == s && m.live(o) && o.turn < turn {
			m.violate(p, c, uint8(i)+1, s, "")
		}
	}
}

// limit is the number of clients that may hold the lock, as client w has stated or the servers say; any is false if
// nothing limits it. A lock without slots has the limit 0.
func (m *Monitor) limit(w *watch, t *Truth) (limit int, any bool) {
	limit = int(t.Limit)
	if !m.traits.Has(lock.Limits) {
		if limit == 0 {
			limit = int(m.number(t))
		}
		return limit, true
	}
	if w.stated > 0 && (limit == 0 || int(w.stated) < limit) {
		limit = int(w.stated)
	}
	return limit, limit > 0
}

// sate records whether the client may be refused now.
func (m *Monitor) sate(w *watch, t *Truth) {
	limit, any := m.limit(w, t)
	if !any {
		limit = 1
	}
	w.sated = w.sated || bits.OnesCount16(t.Taken|t.Pending) >= limit
	if !m.traits.Has(lock.Priorities) || w.beaten {
		return
	}
	n := 0
	for taken := t.Taken; taken != 0; taken &= taken - 1 {
		if t.Priority[bits.TrailingZeros16(taken)] >= w.stated {
			n++
		}
	}
	w.beaten = n >= limit || t.Barrier >= w.stated && t.Barrier > 0
}

// refused judges an acquire that says that the lock is full. A client that looks at slots one by one may have found
// each slot held at a different moment (busy).
func (m *Monitor) refused(c uint8, w *watch) {
	each := !m.traits.Has(lock.Permits) && m.locks[w.lock].truth.Exists&^w.busy == 0
	m.require(property.HonestFull, w.sated || each, c, 0, 0, "refused, though at no moment of the call as many held the lock as may")
	if m.traits.Has(lock.Priorities) && w.sated {
		m.require(property.PriorityRespected, w.beaten, c, 0, 0, "refused, though all the while somebody of a lower priority held the lock")
	}
}

// owns judges the reply that client c holds slot s. It is possible that the servers had no moment of the call at
// which the client held the slot, for instance because its claim arrived after its lease had ended. Then the reply
// counts as a grant later than all others. Two kinds of locks are judged otherwise. A permit that the servers never
// had has no slot of its own (see limit). In locks with priorities, the servers name the victim until it has
// acknowledged.
func (m *Monitor) owns(c uint8, w *watch, s uint8) {
	if !m.traits.Has(lock.Leases) {
		return
	}
	if !w.stolen {
		turn := w.turn
		if w.mine&(1<<s) == 0 && m.founds() {
			turn = math.MaxUint8
		}
		m.respects(property.LeaseRespected, w.lock, c, s, turn)
	}
	if m.traits.Has(lock.Acknowledged) && (w.stolen || m.answered == c) {
		m.respects(property.VictimAcknowledged, w.lock, c, s, w.turn)
	}
}

// founds reports whether, in a correct lock, each client that is told it holds a slot is its holder on the servers.
func (m *Monitor) founds() bool {
	return m.traits&(lock.Leases|lock.Permits|lock.Priorities) == lock.Leases
}

// refreshed judges a refresh.
func (m *Monitor) refreshed(c uint8, w *watch, r lock.Result) {
	s := w.arg
	if r.Outcome != lock.Done || !r.Held {
		return
	}
	detail := ""
	switch {
	case w.mine&(1<<s) == 0 || w.revived:
		detail = "told that its lease is extended, which had ended, or was another's, all the while"
	case w.shortened:
		detail = "told that its lease is extended, which ends earlier than before"
	case !w.renewed && (w.expired || w.leased && w.until != 0):
		detail = "told that its lease is extended, for which nothing was done"
	}
	m.require(property.RenewalHonest, detail == "", c, 0, s, detail)
	if m.locks[w.lock].truth.Owner[s] == m.owner(c) {
		w.over = false
	}
}

// lostHold reports whether a verify, refresh or release may fail because the client has lost its hold.
func (m *Monitor) lostHold(c uint8, w *watch) bool {
	if m.traits == 0 || w.op != lock.Verify && w.op != lock.Refresh && w.op != lock.Release {
		return false
	}
	return w.over || m.locks[w.lock].truth.Owner[w.arg] != m.owner(c)
}

// givenUp ends a lease whose client has released it or stopped acquiring it: other clients need not wait for
// its end.
func (w *watch) givenUp() { w.leased, w.stolen = false, false }

// counted reports whether refusals are judged by the number of holders instead of slot by slot.
func (m *Monitor) counted() bool { return m.traits&(lock.Leases|lock.Limits|lock.Priorities) != 0 }

// contended reports whether an acquire may give up, because another client acted on the lock, held it, or took the
// slot that it was granted.
func (m *Monitor) contended(w *watch) bool { return w.crowded || w.sated || w.granted != 0 }

// gaveUp ends the lease of a client that has released or failed to get its slot, unless the server still has the
// client as its owner.
func (m *Monitor) gaveUp(c uint8, w *watch) {
	if m.locks[w.lock].truth.Owner[w.on] != m.owner(c) {
		w.givenUp()
	}
}

// Renewed is the reply to client c's command that waited in the server and has extended the lease.
func (m *Monitor) Renewed(c uint8) {
	w := &m.clients[c-1]
	w.renewed = w.renewed || w.op == lock.Refresh
}

// Acknowledged is client c's message that it has stopped using the slot that another client took.
func (m *Monitor) Acknowledged(c uint8) {
	m.gaveUp(c, &m.clients[c-1])
}

// Clock records that a fault has put client c's clock ahead of the servers', in milliseconds.
func (m *Monitor) Clock(c uint8, ahead int64) {
	w := &m.clients[c-1]
	w.ahead, w.disturbed = int32(ahead), true
}

// encodeLease writes or reads a client's lease. It stores the remaining time, so that states that differ only in the
// current time are equal.
func (m *Monitor) encodeLease(w *watch, c *codec.Coder) {
	left := max(0, int64(w.until)-m.now)
	codec.Bools(c, &w.leased, &w.over, &w.timed, &w.stolen, &w.disturbed)
	codec.Byte(c, &w.on)
	codec.Byte(c, &w.turn)
	codec.Byte(c, &w.stated)
	codec.Number(c, &left)
	w.until = 0
	if left > 0 {
		w.until = int32(left + m.now)
	}
	if w.op != lock.NoOp {
		codec.Bools(c, &w.crowded, &w.sated, &w.beaten, &w.renewed, &w.shortened, &w.revived, &w.expired)
	}
	if m.traits.Has(lock.Leases) {
		codec.Bools(c, &w.owed, &w.lost, &w.unsaid)
		codec.Number(c, &w.loose)
		codec.Number(c, &w.again)
	}
}

// leaseOnly is the part of a client's lease that a state keeps: nothing if the lease has ended.
func (m *Monitor) leaseOnly(w *watch) lease {
	k := w.lease
	if m.outlived(w) {
		k.over, k.timed = true, true
	}
	if !m.live(w) {
		k.leased, k.on, k.until, k.turn, k.stolen = false, 0, 0, 0, false
	}
	if w.believed == 0 && w.op != lock.Acquire {
		k.over, k.timed = false, false
	}
	if w.alive && w.op == lock.NoOp {
		k.stated = 0
	}
	return k
}

// renumber numbers the live grants from 1.
func (m *Monitor) renumber() {
	var turns [lock.MaxClients]uint8
	for l := range m.locks {
		m.locks[l].grants = 0
	}
	for i := range m.clients[:m.n] {
		w := &m.clients[i]
		if !w.leased {
			continue
		}
		m.locks[w.lock].grants++
		turns[i] = 1
		for k := range m.clients[:m.n] {
			if o := &m.clients[k]; o.leased && o.lock == w.lock && o.turn < w.turn {
				turns[i]++
			}
		}
	}
	for i := range m.clients[:m.n] {
		m.clients[i].turn = turns[i]
	}
}
