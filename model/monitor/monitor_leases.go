package monitor

import (
	"math"
	"math/bits"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Groups of fields of a client's watch that only locks with [lock.Traits] need.
type (
	// lease is a client's last grant by the servers. It remains even if another client is then granted the slot.
	lease struct {
		leased bool  // the lease has not ended, and the client has neither released it nor acknowledged its loss
		on     uint8 // the granted slot
		until  int32 // end of the lease, in virtual milliseconds since the execution began; 0: it ends with the session
		turn   uint8 // order of the lock's grants: a later grant has a larger number
		stolen bool  // the client took the slot away from a holder whose lease had not ended
		over   bool  // a hold that the client believes in, or will soon, has ended with its lease or session
		timed  bool  // that hold ended because the lease's time was over
		stated uint8 // limit or priority that the caller of the last acquire stated
	}
	// asking is about the operation under way.
	asking struct {
		crowded bool // another client had an operation under way on the lock
		sated   bool // at some moment as many clients held the lock as may
		// beaten says that at some moment as many as may held the lock, all with at least this client's priority, or a
		// barrier of at least this priority was set.
		beaten    bool
		renewed   bool // a command of the refresh extended the lease
		shortened bool // the refresh moved the end of the lease to an earlier time
		revived   bool // the refresh granted the client a slot that it had lost
		expired   bool // the lease ended during the refresh
	}
	// timing is about a client's clock.
	timing struct {
		disturbed bool  // a fault has changed the clock
		ahead     int32 // lead over the servers' clock in milliseconds; a measurement, which no search keeps
	}
)

// live reports whether the client's last grant has neither ended nor been released.
func (m *Monitor) live(w *watch) bool {
	return w.leased && (w.until == 0 || int64(w.until) > m.now)
}

// stale reports whether the session or lease of the believed hold has ended.
func (m *Monitor) stale(w *watch) bool {
	if m.traits.Has(lock.Leases) {
		return w.over || m.outlived(w)
	}
	return !w.connected
}

// outlived reports whether the believed hold's lease has ended by time, even if another client has taken the slot
// since.
func (m *Monitor) outlived(w *watch) bool { return w.leased && w.on == w.believed && m.lapsed(w.until) }

// forgiven reports whether a stale belief is no violation. If the lock has deadlines, a client must end its belief in
// time by its own clock, unless a fault has changed the clock.
func (m *Monitor) forgiven(w *watch) bool {
	return !m.traits.Has(lock.Deadlines) || !w.timed && !m.outlived(w) || w.disturbed
}

// lapsed reports whether the end of a lease, until, has come; 0 never comes.
func (m *Monitor) lapsed(until int32) bool { return until != 0 && int64(until) <= m.now }

// leases judges how the holders of lock number l changed from state old to t. c is the client whose command changed
// them; 0 is no client.
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

// tardy handles a newly acquired hold. over says that the hold has already ended, which is recorded only if a fault has
// changed the client's clock.
func (w *watch) tardy(over bool) {
	if w.disturbed && over {
		w.over, w.timed = true, true
	}
}

// parted handles a step of client c by which slot s loses its owner, client number was. The lease of that client
// remains, unless it has ended or the client has given the slot up.
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

// granted handles the grant of slot s to client number is.
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

// extended handles a slot that keeps its owner. The end of its lease may have changed.
func (m *Monitor) extended(is, s uint8, old, t *Truth) {
	w := &m.clients[is-1]
	if w.leased && w.on == s {
		w.until = t.Until[s]
	}
	if w.op == lock.Acquire && (!m.traits.Has(lock.Leases) || t.Until[s] != old.Until[s] || t.Token[s] != old.Token[s]) {
		m.confirm(!m.traits.Has(lock.Leases) || w.isLoose(w.lock, s)) // otherwise the history shows one unbroken hold
		w.granted |= 1 << s                                           // the slot was granted once more
	}
	if w.op == lock.Refresh && w.arg == s {
		w.renewed = w.renewed || t.Until[s] > old.Until[s]
		w.shortened = w.shortened || t.Until[s] != 0 && t.Until[s] < old.Until[s]
	}
}

// respects judges property p: when client c gets slot s, no other client may have a live lease of s with an earlier
// turn.
func (m *Monitor) respects(p property.Property, l, c, s, turn uint8) {
	m.exercise(p)
	for i := range m.clients[:m.n] {
		if o := &m.clients[i]; uint8(i)+1 != c && o.lock == l && o.on == s && m.live(o) && o.turn < turn {
			m.violate(p, c, uint8(i)+1, s, "")
		}
	}
}

// limit is the number of clients that may hold the lock: the one that the servers store, or a smaller one that client w
// has stated. any is false if there is no limit. A lock without slots has the limit 0.
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

// sate records whether client w's acquire may fail because the lock is full at this moment.
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

// refused judges an acquire that failed because the lock is full. A client that looks at the slots one by one may have
// found each slot taken at a different moment (w.busy).
func (m *Monitor) refused(c uint8, w *watch) {
	each := !m.traits.Has(lock.Permits) && m.locks[w.lock].truth.Exists&^w.busy == 0
	m.require(property.HonestFull, w.sated || each, c, 0, 0, "refused, though at no moment of the call as many held the lock as may")
	if m.traits.Has(lock.Priorities) && w.sated {
		m.require(property.PriorityRespected, w.beaten, c, 0, 0, "refused, though all the while somebody of a lower priority held the lock")
	}
}

// owns judges the answer that client c holds slot s. The servers may never have had the client as the owner, for
// example because its claim arrived after the end of the lease. The answer then counts as a grant after all others.
// There are two exceptions. A permit that the servers never had has no slot number. In locks with priorities, the
// servers name the previous holder until it has acknowledged.
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

// founds reports whether the servers of a correct lock always make a client the owner of a slot before the client is
// told that it holds the slot.
func (m *Monitor) founds() bool {
	return m.traits&(lock.Leases|lock.Permits|lock.Priorities) == lock.Leases
}

// refreshed judges a refresh that says held.
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

// lostHold reports whether a verify, refresh or release may fail because its client has lost the slot.
func (m *Monitor) lostHold(c uint8, w *watch) bool {
	if m.traits == 0 || w.op != lock.Verify && w.op != lock.Refresh && w.op != lock.Release {
		return false
	}
	return w.over || m.locks[w.lock].truth.Owner[w.arg] != m.owner(c)
}

// givenUp ends a lease that its client has released or stopped acquiring. Other clients need not wait for its end.
func (w *watch) givenUp() { w.leased, w.stolen = false, false }

// counted reports whether it is the number of holders, and not single slots, that decides whether an acquire may fail
// as full.
func (m *Monitor) counted() bool { return m.traits&(lock.Leases|lock.Limits|lock.Priorities) != 0 }

// contended reports whether an acquire may give up: another client had an operation under way, the lock was full, or
// the slot that it was granted was taken away.
func (m *Monitor) contended(w *watch) bool { return w.crowded || w.sated || w.granted != 0 }

// gaveUp ends the lease of a client that has released its slot or failed to acquire one, unless the servers still have
// the client as the slot's owner.
func (m *Monitor) gaveUp(c uint8, w *watch) {
	if m.locks[w.lock].truth.Owner[w.on] != m.owner(c) {
		w.givenUp()
	}
}

// Renewed is called when client c gets the reply to a command that waited in the server and has extended its lease.
func (m *Monitor) Renewed(c uint8) {
	w := &m.clients[c-1]
	w.renewed = w.renewed || w.op == lock.Refresh
}

// Acknowledged is called when client c sends the message that it has stopped using a slot that another client took.
func (m *Monitor) Acknowledged(c uint8) {
	m.gaveUp(c, &m.clients[c-1])
}

// Clock is called when a fault puts client c's clock ahead of the servers' clock by a number of milliseconds.
func (m *Monitor) Clock(c uint8, ahead int64) {
	w := &m.clients[c-1]
	w.ahead, w.disturbed = int32(ahead), true
}

// encodeLease encodes or decodes a client's lease. It stores the time that is left, so that states that differ only in
// the present time have the same code.
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

// leaseOnly is the part of a client's lease that a search keeps: only flags if the lease has ended.
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

// renumber gives the live grants of each lock the turns 1, 2 and so on, in their order.
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
