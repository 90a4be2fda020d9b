package monitor

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// What leases need in addition to what every lock needs. Targets without traits ignore it.
type (
	// lease is what a client was granted last, as the servers had it: its hold may be taken from it, and its lease live on.
	lease struct {
		leased bool  // and has neither given up nor acknowledged the loss of, nor has it ended
		on     uint8 // the slot
		until  int32 // when it ends, in virtual milliseconds since the execution began; 0 is with its session
		turn   uint8 // it is the so-manieth grant of the lock, of those that live
		stolen bool  // it took it from somebody whose lease lived
		over   bool  // what it believes to hold, or is about to be told of, has ended, by time or with its session
		timed  bool  // by time
		stated uint8 // what its last acquire stated
	}
	// asking is what is remembered of a call.
	asking struct {
		crowded   bool // others had an operation under way
		sated     bool // at some moment as many held the lock as may
		beaten    bool // at some moment so many of the same or a higher priority
		renewed   bool // a command of a refresh that extends the lease was carried out
		shortened bool // a refresh has its lease end earlier than before
		revived   bool // a refresh has given it what was not its own before
	}
	// timing is what is known of a client's clock.
	timing struct {
		disturbed bool  // by a fault
		ahead     int32 // of the servers', in milliseconds; it judges nothing: no search keeps it
	}
)

// live reports whether the lease of what a client was granted last lives.
func (m *Monitor) live(w *watch) bool {
	return w.leased && (w.until == 0 || int64(w.until) > m.now)
}

// stale reports whether a client's belief has outlived what it was granted: by its session, or by its lease.
func (m *Monitor) stale(w *watch) bool {
	if m.traits.Has(lock.Leases) {
		return w.over || m.outlived(w)
	}
	return !w.connected
}

// outlived reports whether what a client was granted, and was taken from it since, would have ended by now.
func (m *Monitor) outlived(w *watch) bool { return w.leased && w.on == w.believed && m.lapsed(w.until) }

// forgiven reports whether a stale belief is no fault: a client that ends its beliefs by its own clock has to be in time
// as long as nothing was done to that.
func (m *Monitor) forgiven(w *watch) bool {
	return !m.traits.Has(lock.Deadlines) || !w.timed && !m.outlived(w) || w.disturbed
}

// lapsed reports whether a lease that ends at a moment has ended.
func (m *Monitor) lapsed(until int32) bool { return until != 0 && int64(until) <= m.now }

// leases follows who was granted what, and judges it, when the truth of a lock changes by a command of client c, or by
// nobody's (0).
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

// tardy notes, where something was done to its client's clock, that what it has just acquired was over before.
func (w *watch) tardy(over bool) {
	if w.disturbed && over {
		w.over, w.timed = true, true
	}
}

// parted is a holder that is none any more: its lease has ended, or it has given it up, or is about to; otherwise it lives
// on.
func (m *Monitor) parted(c, was, s uint8, old *Truth) {
	w := &m.clients[was-1]
	lapsed := m.lapsed(old.Until[s])
	ended := old.Until[s] == 0 && m.ended&(1<<(was-1)) != 0
	if (w.believed == s || w.op == lock.Acquire && w.on == s) && (lapsed || ended) {
		w.over, w.timed = true, lapsed
	}
	if w.on == s && (lapsed || ended || c == was || w.op == lock.Release) {
		w.leased = false
	}
}

// granted is a slot that a client was granted.
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
		m.respects(property.LeaseRespected, l, is, s)
	}
}

// extended is a lease that goes on, perhaps until another moment.
func (m *Monitor) extended(is, s uint8, old, t *Truth) {
	w := &m.clients[is-1]
	if w.leased && w.on == s {
		w.until = t.Until[s]
	}
	if w.op == lock.Acquire && (!m.traits.Has(lock.Leases) || t.Until[s] != old.Until[s] || t.Token[s] != old.Token[s]) {
		w.granted |= 1 << s // once more
	}
	if w.op == lock.Refresh && w.arg == s {
		w.renewed = w.renewed || t.Until[s] > old.Until[s]
		w.shortened = w.shortened || t.Until[s] != 0 && t.Until[s] < old.Until[s]
	}
}

// respects judges whether a client may have a slot, with regard to the leases that others were granted before.
func (m *Monitor) respects(p property.Property, l, c, s uint8) {
	m.exercise(p)
	for i := range m.clients[:m.n] {
		if o := &m.clients[i]; uint8(i)+1 != c && o.lock == l && o.on == s && m.live(o) && o.turn < m.clients[c-1].turn {
			m.violate(p, c, uint8(i)+1, s, "")
		}
	}
}

// limit is how many may hold a lock as far as a client is concerned, if anything says so: none may where there is no slot.
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

// sate notes whether a client may be refused now.
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

// refused judges an acquire that says that the lock is full. Who looks at slots one by one may have found each held at a
// moment of its own: busy are those that were.
func (m *Monitor) refused(c uint8, w *watch) {
	each := !m.traits.Has(lock.Permits) && m.locks[w.lock].truth.Exists&^w.busy == 0
	m.require(property.HonestFull, w.sated || each, c, 0, 0, "refused, though at no moment of the call as many held the lock as may")
	if m.traits.Has(lock.Priorities) && w.sated {
		m.require(property.PriorityRespected, w.beaten, c, 0, 0, "refused, though all the while somebody of a lower priority held the lock")
	}
}

// owns judges a client that is told that it holds a slot.
func (m *Monitor) owns(c uint8, w *watch, s uint8) {
	if !m.traits.Has(lock.Leases) {
		return
	}
	if !w.stolen {
		m.respects(property.LeaseRespected, w.lock, c, s)
	}
	if m.traits.Has(lock.Acknowledged) && (w.stolen || m.told == c) {
		m.respects(property.VictimAcknowledged, w.lock, c, s)
	}
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
	case !w.renewed && w.leased && w.until != 0:
		detail = "told that its lease is extended, for which nothing was done"
	}
	m.require(property.RenewalHonest, detail == "", c, 0, s, detail)
	if m.locks[w.lock].truth.Owner[s] == m.owner(c) {
		w.over = false
	}
}

// bereft reports whether an operation may fail since what it is about is not its client's any more.
func (m *Monitor) bereft(c uint8, w *watch) bool {
	if m.traits == 0 || w.op != lock.Verify && w.op != lock.Refresh && w.op != lock.Release {
		return false
	}
	return w.over || m.locks[w.lock].truth.Owner[w.arg] != m.owner(c)
}

// givenUp is a client that has released what it had, or gives up getting it: nobody has to wait for its lease.
func (w *watch) givenUp() { w.leased, w.stolen = false, false }

// counted says that refusals are judged by how many hold a lock, not slot by slot.
func (m *Monitor) counted() bool { return m.traits&(lock.Leases|lock.Limits|lock.Priorities) != 0 }

// contended reports whether an acquire may give up: others were at the lock, or had it, or took from it what it was granted.
func (m *Monitor) contended(w *watch) bool { return w.crowded || w.sated || w.granted != 0 }

// gaveUp ends the lease of a client that has released what it had, or failed to get it, unless it has it still.
func (m *Monitor) gaveUp(c uint8, w *watch) {
	if m.locks[w.lock].truth.Owner[w.on] != m.owner(c) {
		w.givenUp()
	}
}

// Renewed is client c receiving the answer to a command that waited, and that has extended its lease.
func (m *Monitor) Renewed(c uint8) {
	w := &m.clients[c-1]
	w.renewed = w.renewed || w.op == lock.Refresh
}

// Acknowledged is client c telling whoever took a slot from it that it does not use it any more.
func (m *Monitor) Acknowledged(c uint8) {
	m.gaveUp(c, &m.clients[c-1])
}

// Clock is how far client c's clock is ahead of the servers' from here on, in milliseconds, by a fault.
func (m *Monitor) Clock(c uint8, ahead int64) {
	w := &m.clients[c-1]
	w.ahead, w.disturbed = int32(ahead), true
}

// Disturbed reports whether a fault has befallen a client's clock.
func (m *Monitor) Disturbed(c uint8) bool { return m.clients[c-1].disturbed }

// encodeLease writes or reads what is known of a client's lease: how long it lives yet, since states that differ in
// nothing but the time are one.
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
		codec.Bools(c, &w.crowded, &w.sated, &w.beaten, &w.renewed, &w.shortened, &w.revived)
	}
	if m.traits.Has(lock.Leases) {
		codec.Bools(c, &w.owed, &w.lost, &w.unsaid)
		codec.Number(c, &w.loose)
		codec.Number(c, &w.again)
	}
}

// leaseOnly is what is kept of a lease in a state: nothing of one that has ended.
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

// renumber numbers the grants that live again, from 1.
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
