package monitor

import (
	"cmp"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// End is called when client c's operation ends. held is the slot that the client then believes it holds; 0 is none.
// connected says that the broker has the client's connection.
func (m *Monitor) End(c uint8, r lock.Result, held uint8, connected bool) {
	w := &m.clients[c-1]
	if r.Outcome != lock.Done && !answers[r.Reason] || r.Reason == lock.Disconnected || r.Reason == lock.TimedOut {
		late := m.traits.Has(lock.Deadlines) && r.Reason == lock.TimedOut // the lease ended before the answer came
		m.require(property.Progress, w.troubled || late || m.hindered(w, r) || m.lostHold(c, w), c, 0, 0, "the operation fails though nothing went wrong")
	}
	switch w.op {
	case lock.Acquire:
		m.acquired(c, w, r)
		if held > 0 {
			w.moved = false
			// A slot that was never granted was not lost with the connection.
			w.connected = connected || w.mine&(1<<held) == 0
			w.tardy(m.traits.Has(lock.Deadlines) && m.locks[w.lock].truth.Owner[held] != m.owner(c))
			w.gone, w.since = m.locks[w.lock].truth.Exists&(1<<held) == 0, 0
		}
	case lock.Verify:
		m.verified(c, w, r)
	case lock.Refresh:
		m.refreshed(c, w, r)
		m.vouches(c, w, r)
	case lock.Release:
		m.released(c, w, r)
	case lock.Count:
		if r.Outcome == lock.Done {
			m.countAside(w)
			m.require(property.ExactCount, w.counted&(1<<r.Slots) != 0, c, 0, r.Slots, "")
			m.confirm(w.counted&(1<<r.Slots) != 0)
		}
	case lock.Wait:
		if r.Reason == lock.GaveUp && !m.unbound {
			m.require(property.Progress, w.asked > m.polls, c, 0, r.Slot, "wait gave up before its last permitted look")
		}
		m.confirm(r.Outcome != lock.Done || w.empty&(1<<r.Slot) != 0)
	default:
		m.administrationEnded(c, w, r)
	}
	if r.Outcome == lock.Unknown || r.Outcome != lock.Done && w.op != lock.Acquire && w.op != lock.Release {
		m.loosen(c, w, r.Outcome == lock.Unknown)
	}
	if m.traits != 0 && held == 0 && (w.op == lock.Acquire || r.Outcome == lock.Done) {
		m.gaveUp(c, w)
	}
	w.believed = held
	l := w.lock
	w.op, w.working, w.released = lock.NoOp, false, false
	m.exclude(l)
	m.judgeSlots(l, c)
	m.leaks(c, w)
}

// hindered reports whether something explains that an operation failed without a fault. For an acquire, this is a slot
// with a holder, a refused claim, or a missing lock. For an administrator that waits for holders, it is another
// administrator or a holder. If the maximum numbers of attempts are unknown, it may also be what [Monitor.refuses]
// names.
func (m *Monitor) hindered(w *watch, r lock.Result) bool {
	if m.unbound && m.refuses(w) {
		return true
	}
	if m.drains && w.op.Administrative() {
		return w.waited || w.existed&w.busy != 0
	}
	return w.op == lock.Acquire && r.Reason == lock.NoReason && (w.refused > 0 || w.existed == 0 || w.existed&w.busy != 0)
}

// refuses reports whether an administrator may have met a state in which external locks refuse a change: no slot, too
// few slots to remove, or a holder.
func (m *Monitor) refuses(w *watch) bool {
	switch w.op {
	case lock.Add:
		return w.existed == 0
	case lock.Remove:
		return w.existed == 0 || w.counted&(1<<w.arg-1) != 0 || w.existed&w.busy != 0
	case lock.Destroy:
		return w.existed == 0 || w.existed&w.busy != 0
	case lock.Create:
		return w.existed&w.busy != 0
	}
	return false
}

// answers are the reasons for which an operation may fail without a fault.
var answers = [...]bool{lock.Full: true, lock.GaveUp: true, lock.Withdrawn: true, lock.Busy: true, lock.NotHeld: true}

// confirm records, if ok is false, that the monitor no longer knows a linearization of the events.
func (m *Monitor) confirm(ok bool) {
	if !ok {
		m.dropWitness()
	}
}

func (m *Monitor) acquired(c uint8, w *watch, r lock.Result) {
	s := r.Slot
	bit := uint16(1) << s
	m.cheapAcquire(c, w, r)
	if m.heldOver(w.lock) {
		m.exercise(property.NoFalseHold)
	}
	switch {
	case r.Outcome == lock.Done && r.Held:
		m.exercise(property.MutualExclusion)
		if m.traits != 0 {
			m.owns(c, w, s)
		}
		m.require(property.NoPhantomSlot, w.existed&bit != 0, c, 0, s, "")
		t := &m.locks[w.lock].truth
		if owned := t.Owner[s] == c; owned && !m.shared && !m.counted() && w.existed&bit != 0 {
			m.require(property.RemovalDrains, w.claimed&bit != 0, c, 0, s, property.ForKind(m.kind, "granted after it was removed", "granted after it was destroyed"))
		}
		w.loose &^= bit
		m.confirm(w.claimed&bit != 0 && w.granted == bit && t.Owner[s] == m.owner(c))
	case r.Reason == lock.Full:
		passed := firstSlot(AllSlots &^ w.busy)
		if m.counted() {
			m.refused(c, w)
		}
		m.require(property.Progress, passed == 0 || m.counted(), c, 0, passed, property.ForKind(m.kind, "acquire did not find a slot that was free all along", "acquire did not get the lock though it was free all along"))
		full, strongly := passed == 0, w.full
		if m.counted() {
			full, strongly = w.sated, w.sated
		}
		m.confirm(full && w.granted == 0)
		m.WitnessedStrong = m.WitnessedStrong && strongly
	case r.Reason == lock.Withdrawn:
		t := &m.locks[w.lock].truth
		m.require(property.Progress, w.absent&bit != 0, c, 0, s, property.ForKind(m.kind, "acquire withdrew from a slot that was there all along", "acquire withdrew from the lock though it was there all along"))
		m.confirm(w.granted == bit && w.undone&bit != 0 && t.Owner[s] != m.owner(c))
	case r.Reason == lock.GaveUp:
		waited := m.traits.Has(lock.Acknowledged) // the acquire may have waited for an acknowledgement
		m.require(property.Progress, waited || w.refused > m.retries || m.unbound && w.refused > 0 || m.counted() && m.contended(w), c, 0, 0, m.gaveUpEarly())
		m.confirm(w.granted == 0)
	case r.Outcome == lock.Failed:
		m.confirm(w.granted == 0)
	case r.Outcome == lock.Unknown: // the acquire may have been granted one slot, but not more
		m.confirm(w.granted&(w.granted-1) == 0)
	}
	m.exercise(property.Progress)
}

// gaveUpEarly is the detail of the violation of an acquire that gave up too early.
func (m *Monitor) gaveUpEarly() string {
	if m.unbound {
		return "acquire gave up though nobody was in its way"
	}
	return "acquire gave up before its last permitted attempt"
}

// heldOver reports whether a client believes it holds a slot that has been removed and added again since its grant.
// Other clients' acquires must not suffer from this.
func (m *Monitor) heldOver(l uint8) bool {
	for i := range m.clients[:m.n] {
		w := &m.clients[i]
		if w.lock == l && w.gone && m.locks[l].truth.Exists&(1<<w.believed) != 0 { // slot 0 never exists
			return true
		}
	}
	return false
}

func (m *Monitor) verified(c uint8, w *watch, r lock.Result) {
	s := w.arg
	bit := uint16(1) << s
	m.cheapVerify(c, w, r)
	t := &m.locks[w.lock].truth
	if w.stale {
		m.require(property.StaleBeliefEnds, !r.Held, c, 0, s, "")
	}
	switch {
	case r.Outcome == lock.Done && r.Held:
		// The client still has the slot, or may have lost it with its connection or lease since it asked.
		kept := t.Owner[s] == m.owner(c) || w.dropped || m.traits.Has(lock.Leases)
		m.require(property.HonestVerify, w.held&bit != 0 && kept || t.Owner[s] == 0 && t.Exists&t.Taken&bit != 0, c, 0, s, "")
		m.confirm(w.held&bit != 0 && t.Owner[s] == m.owner(c))
	case r.Reason == lock.Removed:
		m.confirm(w.absent&bit != 0 && t.Owner[s] != m.owner(c))
	case r.Outcome == lock.Failed:
		m.confirm(!w.released || m.traits.Has(lock.Leases))
	}
	m.vouches(c, w, r)
}

func (m *Monitor) released(c uint8, w *watch, r lock.Result) {
	s := w.arg
	t := &m.locks[w.lock].truth
	bit := uint16(1) << s
	if r.Outcome != lock.Done || s == 0 {
		if s != 0 && w.deleted {
			m.violate(property.EffectiveRelease, c, 0, s, "")
		}
		m.confirm(r.Outcome != lock.Failed || w.mine&bit == 0 || t.Owner[s] == m.owner(c) || m.traits.Has(lock.Leases) && !w.unsaid)
		return
	}
	left := t.Owner[s]&^HalfOpen == m.owner(c) && !(m.shared && (w.empty&bit != 0 || m.rival(w.lock, c, s) > 0))
	orphan := t.Taken&bit != 0 && t.Owner[s] == 0 && !m.pendingOwner(w.lock, s)
	m.require(property.EffectiveRelease, !left && !orphan && !w.deleted, c, 0, s, "")
	m.confirm(!left && !orphan && (w.mine&bit != 0 || w.stale && !w.moved))
}

// administrationEnded judges an administrative operation by the slots that it added or removed.
func (m *Monitor) administrationEnded(c uint8, w *watch, r lock.Result) {
	k := &m.locks[w.lock]
	m.exercise(property.AdminExclusion)
	switch r.Outcome {
	case lock.Failed:
		if r.Reason == lock.Busy {
			m.require(property.Progress, w.waited || m.hindered(w, r), c, 0, 0, "busy though nobody is administering")
			m.require(property.Progress, w.asked > uint16(m.tries) || w.refused > m.tries || m.unbound, c, 0, 0, "busy before the last permitted attempt")
		}
		m.confirm(w.grown == 0 && w.shrunk == 0)
		return
	case lock.Unknown:
		m.confirm(m.within(w))
		k.expected = -1
		return
	}
	m.confirm(m.did(w))
	if k.expected < 0 || !w.alone && !(m.foreign && w.op == lock.Add) {
		k.expected = -1
		return
	}
	switch w.op {
	case lock.Create:
		k.expected = max(k.expected, int8(w.arg))
	case lock.Add:
		k.expected += int8(w.arg)
	case lock.Remove:
		k.expected = max(0, k.expected-int8(w.arg))
	case lock.Destroy:
		k.expected = 0
	}
}

// within reports whether the call has added and removed no more slots than it was asked to.
func (m *Monitor) within(w *watch) bool {
	switch w.op {
	case lock.Create:
		return w.shrunk == 0 && w.grown <= w.arg
	case lock.Add:
		return w.shrunk == 0 && w.grown <= w.arg
	case lock.Remove:
		return w.grown == 0 && w.shrunk <= w.arg
	}
	return w.grown == 0
}

// did reports whether the call has added and removed exactly the slots that it was asked to.
func (m *Monitor) did(w *watch) bool {
	switch w.op {
	case lock.Create:
		return w.shrunk == 0 && w.counted>>w.arg != 0
	case lock.Add:
		return w.shrunk == 0 && w.grown == w.arg
	case lock.Remove:
		return w.grown == 0 && (w.shrunk == w.arg || w.shrunk < w.arg && w.counted&1 != 0)
	}
	return w.grown == 0 && w.counted&1 != 0
}

// leaks judges no-leak for a client without a call: of the lock's resources it may own only the one of its slot.
func (m *Monitor) leaks(c uint8, w *watch) {
	k := &m.locks[w.lock]
	t := &k.truth
	m.exercise(property.NoLeak)
	extra := t.owned(c) &^ t.ending()
	if w.believed > 0 {
		extra &^= 1 << w.believed
	}
	if m.shared {
		return
	}
	if extra != 0 {
		left := property.ForKind(m.kind, "a B queue", "the queue of its holder")
		m.violate(property.NoLeak, c, 0, firstSlot(extra), cmp.Or(m.hold, left)+" is left behind")
	}
	if t.Admin == c {
		m.violate(property.NoLeak, c, 0, 0, "the administration mutex is left behind")
	}
}

func firstSlot(set uint16) uint8 {
	for s := uint8(1); s <= Slots; s++ {
		if set&(1<<s) != 0 {
			return s
		}
	}
	return 0
}
