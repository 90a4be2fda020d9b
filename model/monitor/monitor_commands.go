package monitor

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Exchange is a command that reached the server, sent by client c on behalf of its operation, and its reply.
func (m *Monitor) Exchange(c uint8, x *backend.Exchange) {
	w := &m.clients[c-1]
	m.told = 0
	if w.blocked = x.Result == backend.Blocked; w.blocked && w.op == lock.Release {
		w.givenUp() // it takes effect later, in whosever step, and when its client is gone as well
	}
	w.cost.Commands++
	if x.RoundTrip {
		w.cost.Trips++
	}
	if x.Waits {
		w.cost.Replies++
	}
	switch x.Access {
	case backend.OpenUnit:
		w.cost.Channels++
	case backend.OpenSession:
		w.cost.Connections++
		w.dropped, w.moved = false, true
	}
	m.require(property.MinimalDriver, x.Minimal, c, 0, 0, "")
	if x.Aborted {
		w.mended++
		w.broken = w.broken || x.Result == backend.Wrong || x.Result == backend.Failed
		w.troubled = w.troubled || x.Result == backend.Failed
		if x.Access == backend.Commit && w.asked > 0 {
			w.asked-- // that look told nothing
		}
	}
	for i := range m.clients[:m.n] {
		if o := &m.clients[i]; o.since > 0 {
			o.steps++
		}
	}
}

// Mends is client c about to open a channel in place of one that broke before its operation began: that may cost what
// mending one costs that breaks meanwhile.
func (m *Monitor) Mends(c uint8) { m.clients[c-1].mended++ }

// Hinders is client c being refused something else than what it holds locks by: an acquire may fail for that.
func (m *Monitor) Hinders(c uint8) { m.clients[c-1].refused++ }

// bound judges the attempts of an operation at a claim, or at the administration mutex.
func (m *Monitor) bound(c uint8, w *watch) {
	switch {
	case m.unbound:
	case w.op == lock.Acquire:
		m.require(property.Progress, w.refused <= m.retries+1, c, 0, 0, "acquire goes on after its last permitted attempt")
	case w.op.Administrative():
		m.require(property.Progress, w.refused <= m.tries+1, c, 0, 0, "an administrator goes on after its last permitted attempt")
	}
}

// Touch is a command of client c on what a lock has for the exchange's role, and for its slot.
func (m *Monitor) Touch(c uint8, x *backend.Exchange) {
	w := &m.clients[c-1]
	create := x.Access == backend.Create
	if create && w.op == lock.Refresh && x.Result == backend.Done {
		w.renewed = true
	}
	claim := create && (x.Role == backend.Holder || x.Role == backend.Mutex)
	if create && x.Role != backend.Slot && x.Result == backend.Refused {
		w.refused++
		m.bound(c, w)
	}
	if x.Aborted {
		raced := claim && x.Result == backend.Refused && w.empty&(1<<x.Slot) != 0
		w.wasted = w.wasted || x.Result != backend.Failed && !raced
	} else if claim {
		w.declared |= 1 << x.Slot
	}
	if !create && x.Access != backend.Delete && x.Result != backend.Failed {
		m.asks(c, w, x.Role, x.Slot)
	}
	if w.op.Administrative() {
		m.administer(c, w, x)
	}
}

// asks judges how often an operation looks at what it waits for.
func (m *Monitor) asks(c uint8, w *watch, role backend.Role, s uint8) {
	switch {
	case m.unbound:
	case w.op == lock.Wait && role == backend.Holder:
		w.asked++
		m.require(property.Progress, w.asked <= m.polls+1, c, 0, s, "wait goes on after its last permitted look")
	case w.op.Administrative() && role == backend.AdminMutex:
		w.asked++
		m.require(property.Progress, w.asked <= uint16(m.tries)+1, c, 0, 0, "an administrator goes on after its last permitted attempt")
	}
}

// administer is an administrative operation that touches an A queue, or is about to. Who is not ours may look at slots before it has
// the mutex, as long as it looks again behind it: what it has only looked at is in nobody's way.
func (m *Monitor) administer(c uint8, w *watch, x *backend.Exchange) {
	if x.Role == backend.AdminMutex && m.foreign && x.Access == backend.Create && x.Result == backend.Done {
		w.working, w.interleaved = false, false
	}
	if x.Role != backend.Slot {
		return
	}
	m.require(property.AdminExclusion, !w.interleaved, c, 0, 0, "")
	w.working = true
	if m.foreign && x.Access != backend.Create && x.Access != backend.Delete {
		return
	}
	for i := range m.clients[:m.n] {
		o := &m.clients[i]
		if uint8(i)+1 != c && o.lock == w.lock && o.alive && o.working {
			o.interleaved = true
		}
	}
}

// Lost is a reply that client c never gets.
func (m *Monitor) Lost(c uint8) { m.clients[c-1].troubled = true }

// Stranded is client c failing to acquire what nobody has, since it lost its connection and opens no other.
func (m *Monitor) Stranded(c uint8) {
	m.require(property.Progress, false, c, 0, 0, "it has lost its connection, and opens no other: each acquire fails")
}

// Crashless reports what became of client c's call, or of one outside of the execution (c is 0), that it was still
// there for: crashed says that it was not, and why.
func (m *Monitor) Crashless(c uint8, crashed bool, why string) {
	m.require(property.NoCrash, !crashed, c, 0, 0, why)
}

// Fenced is client c being told, with what it is granted, a fencing token: other has been told one that is no smaller (0 is
// nobody), and why says how large.
func (m *Monitor) Fenced(c, other, slot uint8, why string) {
	m.require(property.FencingMonotone, other == 0, c, other, slot, why)
}

// Named is a command of client c on a queue, where there are others' locks as well: alone says that
// it is no other's.
func (m *Monitor) Named(c uint8, alone bool) { m.require(property.NameSafety, alone, c, 0, 0, "") }

// cheapAcquire judges the cost of an acquire: without lost races at most a probe of A and of B for
// every slot looked at, the claim and its verification; with them, a channel for each that broke.
func (m *Monitor) cheapAcquire(c uint8, w *watch, r lock.Result) {
	if !w.linked || r.Outcome == lock.Unknown || r.Reason == lock.Disconnected || r.Reason == lock.TimedOut {
		return
	}
	budget := AcquireBudget(r, firstMissing(w.existed))
	if w.mended > 0 || w.declared != 0 && !r.Held {
		budget = (int(w.mended) + 1) * (2*firstMissing(w.existed) + 4) // all of it again for each
	}
	wasted := w.wasted && !(m.unbound && m.kind == lock.Mutex) // there a claim may be the only question asked
	m.afford(property.CheapAcquire, c, r.Slot, allowed{trips: budget, channels: int(w.mended), sound: !wasted})
}

// firstMissing is how many slots a scan may have had to look at.
func firstMissing(existed uint16) int {
	t := Truth{Exists: existed}
	return t.Count()
}

// AcquireBudget is the most round trips that an acquire may take that met no RESOURCE_LOCKED: two
// probes for every slot up to the one acquired, the declare and the verifying probe; where all of
// slots are taken, the probes and the one that finds no further slot.
func AcquireBudget(r lock.Result, slots int) int {
	if r.Held {
		return 2*int(r.Slot) + 2
	}
	return 2*slots + 1
}

// cheapVerify judges the cost of a verify: one round trip, and one more to give up a removed slot.
func (m *Monitor) cheapVerify(c uint8, w *watch, r lock.Result) {
	if !w.linked || r.Outcome == lock.Unknown || w.mended > 0 && !w.wasted || r.Reason == lock.Disconnected || r.Reason == lock.TimedOut {
		return
	}
	budget := 1
	if !r.Held {
		budget = 2
	}
	m.afford(property.CheapVerify, c, r.Slot, allowed{trips: budget, sound: !w.wasted})
}

// allowed is what an operation may cost whose connection is up when it begins: no other connection in any case.
type allowed struct {
	trips, channels int
	sound           bool // no channel was broken by a command of its own, or it may be
}

// afford requires that client c's operation at hand has not cost more than it may.
func (m *Monitor) afford(p property.Property, c, slot uint8, a allowed) {
	cost := &m.clients[c-1].cost
	ok := cost.Connections == 0 && int(cost.Channels) <= a.channels && a.sound && int(cost.Trips) <= a.trips
	detail := ""
	if !ok && !m.Found.Has(p) { // it is not worth the time else
		detail = a.exceeded(cost)
	}
	m.require(p, ok, c, 0, slot, detail)
}

// exceeded is what cost too much: measured, and allowed.
func (a allowed) exceeded(cost *Cost) string {
	var parts []string
	if n := int(cost.Trips); n > a.trips {
		parts = append(parts, fmt.Sprintf("took %s, at most %d allowed", property.Counted(n, "round trip"), a.trips))
	}
	if n := int(cost.Channels); n > a.channels {
		parts = append(parts, fmt.Sprintf("opened %s, at most %d allowed", property.Counted(n, "channel"), a.channels))
	}
	if n := int(cost.Connections); n > 0 {
		parts = append(parts, fmt.Sprintf("reconnected: it opened %s, though it had one when it began", property.Counted(n, "connection")))
	}
	if !a.sound {
		parts = append(parts, "broke a channel by a command of its own")
	}
	return strings.Join(parts, "; ")
}

// Spent is what client c's operation at hand has cost so far, how many claims it lost, and whether
// a channel broke that was no answer.
func (m *Monitor) Spent(c uint8) (cost Cost, lost int, broken bool) {
	w := &m.clients[c-1]
	return w.cost, int(w.refused), w.broken
}

// Answered is client c receiving the answer to a command that waited inside the server, or what it waited for from others.
func (m *Monitor) Answered(c uint8) { m.clients[c-1].blocked, m.told = false, c }

// Learned is what client c, by no answer to its operation, believes to hold from here on: no more than before.
// It reports whether that is less.
func (m *Monitor) Learned(c, held uint8) (less bool) {
	w := &m.clients[c-1]
	if w.believed == held {
		return false
	}
	w.believed = held
	m.exclude(w.lock)
	return true
}
