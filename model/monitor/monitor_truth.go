package monitor

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// SetTruth sets the broker's state of lock number l after a command of client c. c is 0 for a change without a command,
// such as the end of a lease.
func (m *Monitor) SetTruth(l, c uint8, t *Truth) {
	old := m.locks[l].truth
	m.locks[l].truth = *t
	if m.otherSlots(&old, t) {
		m.slotsChanged(l, c, &old, t)
	}
	if m.traits != 0 {
		m.leases(l, c, &old, t)
	}
	m.ownersChanged(l, c, &old, t)
	seen := m.see(l)
	m.locks[l].passed.add(seen)
	for i := range m.clients[:m.n] {
		w := &m.clients[i]
		if w.lock == l && w.op != lock.NoOp {
			m.observe(uint8(i)+1, w, seen)
		}
		if w.lock == l && w.believed > 0 && t.Exists&(1<<w.believed) == 0 {
			w.gone = true
		}
	}
	m.exclude(l)
	m.judgeSlots(l, c)
}

// slotsChanged handles a change of the existing slots. It counts them for the operation of client c.
func (m *Monitor) slotsChanged(l, c uint8, old, t *Truth) {
	if !m.whole(t) {
		m.dropWitness()
	}
	if c == 0 {
		m.dropWitness()
		m.spend(l, old, t)
		return
	}
	w := &m.clients[c-1]
	added, more := t.Exists&^old.Exists, bits.OnesCount16(t.Exists)-bits.OnesCount16(old.Exists)
	if !w.op.Administrative() {
		w.deleted = !(w.deleted && more > 0 && m.traits.Has(lock.Permits)) // false again once a removed permit is back
		m.dropWitness()
		return
	}
	switch {
	case m.traits.Has(lock.Permits) && more > 0:
		w.grown += uint8(more)
	case m.traits.Has(lock.Permits):
		w.shrunk += uint8(-more)
	case added != 0:
		m.confirm(w.op != lock.Create || added>>(w.arg+1) == 0)
		w.grown++
	default:
		w.shrunk++
	}
	m.confirm(m.within(w)) // other clients see the change before the operation ends
}

// spend handles a change of the slots of lock l without a command. If there are fewer slots, it marks the clients that
// may have caused this: those that have just crashed (spent), and those whose connection has just ended during a call
// (deleted).
func (m *Monitor) spend(l uint8, old, t *Truth) {
	if bits.OnesCount16(t.Exists) >= bits.OnesCount16(old.Exists) {
		return
	}
	for i := range m.clients[:m.n] {
		switch w := &m.clients[i]; {
		case w.lock != l:
		case m.dying&(1<<i) != 0:
			w.spent = true
		case w.alive && w.op != lock.NoOp && !w.op.Administrative() && m.ended&(1<<i) != 0:
			w.deleted = true
		}
	}
}

// ownersChanged handles changes of the slots' owners.
func (m *Monitor) ownersChanged(l, c uint8, old, t *Truth) {
	for s := uint8(1); s <= Slots; s++ {
		was, is := old.Owner[s], t.Owner[s]
		if is == 0 && t.Taken&(1<<s) != 0 {
			m.dropWitness() // a slot is taken without an owner
		}
		if was == is || was == is&^HalfOpen {
			continue // the same session still owns the slot, though its client may have given the session up
		}
		if was != 0 && !m.lapsed(old.Until[s]) {
			m.ownerLost(l, c, was, s)
		}
		if m.traits.Has(lock.Leases) {
			m.settles(was, s)
		}
		if is != 0 {
			m.ownerGained(l, c, is, s)
		}
	}
}

// ownerLost handles the loss of slot s by its owner, client number was. While the broker has the owner's connection,
// only the owner's own release, verify or withdrawn acquire may end the hold. An acquire may end only the hold of a
// slot that it was granted. With a shared connection, the command may be another client's.
func (m *Monitor) ownerLost(l, c, was, s uint8) {
	halfOpen := was&HalfOpen != 0
	was &^= HalfOpen
	if m.ended&(1<<(was-1)) != 0 {
		return
	}
	w := &m.clients[was-1]
	own, leases := !halfOpen && c > 0 && m.owner(c) == was, m.traits.Has(lock.Leases)
	if own {
		w = &m.clients[c-1]
	}
	switch {
	case w.isLoose(l, s) && !w.asks(s):
		return
	case own && w.op == lock.Acquire:
		m.confirm(w.granted&(1<<s) != 0)
		return
	case w.op == lock.Release && (own || leases): // commands of the release may have waited in the server
		w.unsaid = true
		m.confirm(w.arg == s)
		return
	case leases && w.asks(s): // the answer has to report the loss
		w.lost, w.released = true, w.released || own && w.connected && w.believed == s
		return
	case halfOpen || !w.connected:
		m.dropWitness()
		return
	case own && (w.op == lock.Verify || w.op == lock.Refresh):
		w.released = w.released || w.believed == s
		m.confirm(w.arg == s && w.absent&(1<<s) != 0)
		return
	}
	m.dropWitness()
	if w.believed == s && !m.traits.Has(lock.Leases) {
		m.violate(property.RemovalDrains, was, c, s, "the holder lost it without releasing it")
	}
}

// ownerGained handles a slot s whose owner is now client number is, by this client's own command or by one that waited
// in the server.
func (m *Monitor) ownerGained(l, c, is, s uint8) {
	if is&HalfOpen == 0 && m.clients[is-1].blocked && m.clients[is-1].op == lock.Acquire {
		m.takes(is, s)
		return
	}
	if m.traits.Has(lock.Leases) && m.clients[is-1].collects(l, s) {
		return
	}
	if c == 0 || m.owner(c) != is {
		m.dropWitness()
		if is&HalfOpen != 0 || m.shared {
			return
		}
		c = is // the new owner did not send the command: it was waiting for a delivery
	}
	if m.clients[c-1].op != lock.Acquire {
		m.dropWitness()
		return
	}
	m.takes(c, s)
}

// takes records that client c's acquire was granted slot s. Without a lost connection, the same slot may be granted to
// one acquire only once.
func (m *Monitor) takes(c, s uint8) {
	w := &m.clients[c-1]
	m.confirm(w.granted&(1<<s) == 0 || w.dropped)
	w.granted |= 1 << s
}

// exclude judges mutual-exclusion: if a client believes that it holds a slot, no other client may believe this, or have
// been granted the slot by the broker. Without fencing, a belief that outlives its connection can always overlap with
// another hold. Such overlaps are only measured.
func (m *Monitor) exclude(l uint8) {
	t := &m.locks[l].truth
	for i := range m.clients[:m.n] {
		w := &m.clients[i]
		if w.lock != l || w.believed == 0 || w.released {
			continue
		}
		c, s := uint8(i)+1, w.believed
		other := m.rival(l, c, s)
		if owner := t.Owner[s] &^ HalfOpen; other == 0 && owner != 0 && owner != m.owner(c) && !m.traits.Has(lock.Priorities) && !m.givesUp(owner) {
			other = owner
		}
		switch {
		case m.stale(w) && m.forgiven(w):
			m.overlap(w, other != 0)
		case other != 0:
			m.violate(property.MutualExclusion, c, other, s, "")
			if m.renewed(t, c, other, s) {
				m.violate(property.NoFalseHold, c, other, s, "")
			}
		}
	}
}

// givesUp reports whether the external client owner is releasing its slot. Its release may be several commands, and
// after any of them another client may be granted the slot.
func (m *Monitor) givesUp(owner uint8) bool {
	return m.foreign && !m.shared && m.clients[owner-1].op == lock.Release
}

// renewed reports whether slot s was removed and added again after the grant of one of the two clients, but not of the
// other.
func (m *Monitor) renewed(t *Truth, c, other, s uint8) bool {
	o := &m.clients[other-1]
	return t.Exists&(1<<s) != 0 && m.clients[c-1].gone != (o.believed == s && o.gone)
}

// rival is another client that believes it holds slot s, and whose session or lease has not ended; 0 if there is none.
func (m *Monitor) rival(l, c, s uint8) uint8 {
	for i := range m.clients[:m.n] {
		o := &m.clients[i]
		if uint8(i)+1 != c && o.lock == l && o.believed == s && !m.stale(o) && !o.released {
			return uint8(i) + 1
		}
	}
	return 0
}

// overlap measures how long client w's stale belief overlaps with another client's hold. now says whether the
// two overlap at present.
func (m *Monitor) overlap(w *watch, now bool) {
	if now && w.since == 0 {
		w.since, w.steps, w.then = max(1, m.now), 0, w.ahead
	}
	if w.since > 0 {
		m.Overlap = max(m.Overlap, m.now-w.since)
		m.OwnClock = max(m.OwnClock, m.now-w.since+int64(w.ahead-w.then))
		m.Overlaps = max(m.Overlaps, w.steps)
	}
	if !now {
		w.since = 0
	}
}

// judgeSlots judges contiguous-slots for lock number l, unless a client is administering it.
func (m *Monitor) judgeSlots(l, c uint8) {
	if m.kind == lock.Mutex {
		return
	}
	for i := range m.clients[:m.n] {
		w := &m.clients[i]
		if w.lock == l && w.alive && w.op.Administrative() {
			return
		}
	}
	k := &m.locks[l]
	if k.start != 0 && k.truth.Exists == k.start {
		return
	}
	count := m.number(&k.truth)
	switch {
	case !m.whole(&k.truth):
		m.violate(property.ContiguousSlots, c, 0, uint8(count+1), property.ForKind(m.kind, "there is a hole", "the lock is there in part"))
	case k.expected >= 0 && k.expected != count:
		m.violate(property.ContiguousSlots, c, 0, 0, property.ForKind(m.kind, "there are more or fewer slots than administered", "the lock is there though it was destroyed, or is not though it was created"))
	}
	m.exercise(property.ContiguousSlots)
	k.expected = count
}

// Crash is called when client c dies. Its operation may have taken effect or not.
func (m *Monitor) Crash(c uint8) {
	w := &m.clients[c-1]
	if w.op.Administrative() {
		m.confirm(m.within(w))
		m.locks[w.lock].expected = -1
	}
	m.loosen(c, w, true)
	if !w.op.Administrative() {
		m.dying |= 1 << (c - 1)
		w.spent = w.deleted
	}
	left := w.believed
	switch {
	case m.drains && w.op == lock.Release: // the slot that the dead client was releasing
		left = w.arg
	case m.drains && w.op == lock.Acquire && w.granted != 0: // a slot that was granted to it before any answer
		left = firstSlot(w.granted)
	}
	w.alive, w.left, w.believed, w.op, w.working, w.since = false, left, 0, lock.NoOp, false, 0
}

// Gone is called when the broker notices the end of a connection of client c. granted says that the client's slot was
// granted on this connection. own says that the client itself closed it.
func (m *Monitor) Gone(c uint8, granted, own bool) {
	w := &m.clients[c-1]
	m.ended |= 1 << (m.owner(c) - 1)
	if m.traits.Has(lock.Leases) {
		w.loose |= m.locks[w.lock].truth.owned(c)
	}
	if granted {
		w.connected = false
		w.mine |= m.locks[w.lock].truth.owned(m.owner(c)) // lost with the connection, even if the answer says held
	}
	if !own {
		w.dropped, w.troubled = true, true
	}
}

// ChannelGone is called when a fault ends a channel of client c, but not its connection. granted says that the client's
// slot was granted on this channel; it is then lost.
func (m *Monitor) ChannelGone(c uint8, granted bool) {
	w := &m.clients[c-1]
	m.ended |= 1 << (m.owner(c) - 1)
	w.connected = w.connected && !granted
	w.dropped, w.troubled = true, true
}

// Freed judges crash-frees for client c, once the broker has noticed its crash: its slot must be free.
func (m *Monitor) Freed(c uint8) {
	w := &m.clients[c-1]
	if w.alive || w.left == 0 && !w.spent {
		return
	}
	s, t, spent := w.left, &m.locks[w.lock].truth, w.spent
	if w.theDead = (theDead{}); spent {
		m.require(property.CrashFrees, false, c, 0, 0, "")
		return
	}
	if t.Until[s] != 0 {
		return // the slot will be free when the lease ends
	}
	stuck := t.Owner[s]&^HalfOpen == m.owner(c) && !m.shared
	if m.traits.Has(lock.Permits) && t.Owner[s]&HalfOpen != 0 {
		stuck = false // the permit belongs to an earlier, half-open connection of the client
	}
	if t.Owner[s] == 0 && t.Taken&(1<<s) != 0 && !m.pendingOwner(w.lock, s) {
		stuck = true
	}
	m.require(property.CrashFrees, !stuck, c, 0, s, "")
}

// pendingOwner reports whether a B queue without an owner may belong to a live client: one that believes it holds slot
// s, or is acquiring it.
func (m *Monitor) pendingOwner(l, s uint8) bool {
	for i := range m.clients[:m.n] {
		w := &m.clients[i]
		if w.lock == l && w.alive && (w.believed == s || w.op == lock.Acquire && w.declared&(1<<s) != 0) {
			return true
		}
	}
	return false
}

// Restarted sets the broker's state of lock number l after a restart of the broker, and judges survives-restart.
func (m *Monitor) Restarted(l uint8, t *Truth) {
	k := &m.locks[l]
	kept := !m.otherSlots(&k.truth, t) && (t.Taken == 0 || m.traits.Has(lock.Leases))
	m.require(property.SurvivesRestart, kept, 0, 0, 0, "")
	for i := range m.clients[:m.n] {
		m.Gone(uint8(i)+1, true, false)
	}
	k.expected = -1
	m.SetTruth(l, 0, t)
}

// Leftover records that after the execution a queue exists that should not, or that has messages.
func (m *Monitor) Leftover(detail string) { m.violate(property.NoLeak, 0, 0, 0, detail) }

// Unfinished records that client c's operation has not ended when the execution ends. why says what it waits for; "" if
// this is unknown.
func (m *Monitor) Unfinished(c uint8, why string) {
	detail := "the operation does not end"
	if why != "" {
		detail += ": " + why
	}
	m.violate(property.Progress, c, 0, 0, detail)
}

// Believed reports whether a live client believes it holds slot s of lock number l.
func (m *Monitor) Believed(l, s uint8) bool {
	for i := range m.clients[:m.n] {
		if w := &m.clients[i]; w.lock == l && w.alive && w.believed == s {
			return true
		}
	}
	return false
}
