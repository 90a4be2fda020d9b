package monitor

import (
	"fmt"
	"strings"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Exchange is called when a command of client c's operation has reached the server.
func (m *Monitor) Exchange(c uint8, x *backend.Exchange) {
	w := &m.clients[c-1]
	m.answered = 0
	if w.blocked = x.Result == backend.Blocked; w.blocked && w.op == lock.Release {
		w.givenUp() // the release takes effect later, in any client's step, even if its client dies
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
			w.asked-- // the poll was aborted at its commit, and got no reply
		}
	}
	for i := range m.clients[:m.n] {
		if o := &m.clients[i]; o.since > 0 {
			o.steps++
		}
	}
}

// Hinders is called when the server refused a command of client c, since another client has locked the resource for a
// moment. The refusal counts as a failed attempt: an acquire may fail because of it.
func (m *Monitor) Hinders(c uint8) { m.clients[c-1].refused++ }

// bound judges the number of refused attempts of client c's operation against the maximum of the options.
func (m *Monitor) bound(c uint8, w *watch) {
	switch {
	case m.unbound:
	case w.op == lock.Acquire:
		m.require(property.Progress, w.refused <= m.retries+1, c, 0, 0, "acquire goes on after its last permitted attempt")
	case w.op.Administrative():
		m.require(property.Progress, w.refused <= m.tries+1, c, 0, 0, "an administrator goes on after its last permitted attempt")
	}
}

// Touch is called when a command of client c concerned the resource of its lock with x.Role and x.Slot.
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

// asks judges the number of polls of client c's operation: of a slot's holder by wait, or of the administration mutex.
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

// administer judges admin-exclusion at a command of an administrative operation on an A queue. An external
// administrator may read A queues before it has the administration mutex, if it reads them again once it has it.
// Reading does not interfere with another administrator.
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
	m.locks[w.lock].passed.Changed = true
	for i := range m.clients[:m.n] {
		o := &m.clients[i]
		if uint8(i)+1 != c && o.lock == w.lock && o.alive && o.working {
			o.interleaved = true
		}
	}
}

// Lost is called when a reply to client c is lost.
func (m *Monitor) Lost(c uint8) { m.clients[c-1].troubled = true }

// Crashless judges no-crash for a call of client c, or for a call outside of the execution if c is 0. why says how the
// client crashed.
func (m *Monitor) Crashless(c uint8, crashed bool, why string) {
	m.require(property.NoCrash, !crashed, c, 0, 0, why)
}

// Named judges name-safety at a command of client c on a queue. alone says that no other lock uses the queue.
func (m *Monitor) Named(c uint8, alone bool) { m.require(property.NameSafety, alone, c, 0, 0, "") }

// cheapAcquire judges the cost of an acquire. Without a lost race it may probe the A and B queues of each slot up to
// the acquired one, claim that slot and verify. For each channel that broke it may do all of this once more.
func (m *Monitor) cheapAcquire(c uint8, w *watch, r lock.Result) {
	if !w.linked || r.Outcome == lock.Unknown || r.Reason == lock.Disconnected || r.Reason == lock.TimedOut {
		return
	}
	budget := AcquireBudget(r, firstMissing(w.existed))
	if w.mended > 0 || w.declared != 0 && !r.Held {
		budget = (int(w.mended) + 1) * (2*firstMissing(w.existed) + 4) // everything again for each broken channel
	}
	wasted := w.wasted && !(m.unbound && m.kind == lock.Mutex) // for a mutex, a claim may be the only question
	m.afford(property.CheapAcquire, c, r.Slot, allowed{trips: budget, channels: int(w.mended), sound: !wasted})
}

// firstMissing is the number of existing slots before the first missing one. A scan may have to look at all of them.
func firstMissing(existed uint16) int {
	t := Truth{Exists: existed}
	return t.Count()
}

// AcquireBudget is the largest number of round trips of an acquire that lost no race. If it succeeds, it needs two
// probes for each slot up to the acquired one, the declare, and the probe that verifies. If all slots are taken, it
// needs two probes for each slot, and one that finds no further slot.
func AcquireBudget(r lock.Result, slots int) int {
	if r.Held {
		return 2*int(r.Slot) + 2
	}
	return 2*slots + 1
}

// cheapVerify judges the cost of a verify: one round trip, or two if it gives up a removed slot.
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

// allowed is the budget of an operation whose client has a connection when it begins. A new connection is never
// allowed.
type allowed struct {
	trips, channels int
	sound           bool // no command of the operation broke a channel without need
}

// afford judges property p: client c's operation must stay within the budget a.
func (m *Monitor) afford(p property.Property, c, slot uint8, a allowed) {
	cost := &m.clients[c-1].cost
	ok := cost.Connections == 0 && int(cost.Channels) <= a.channels && a.sound && int(cost.Trips) <= a.trips
	detail := ""
	if !ok && !m.Found.Has(p) { // the text is only needed for the first violation
		detail = a.exceeded(cost)
	}
	m.require(p, ok, c, 0, slot, detail)
}

// exceeded says in words which costs are above the budget.
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

// Spent returns the cost of client c's operation so far, the number of its lost races, and whether a channel broke for
// another reason.
func (m *Monitor) Spent(c uint8) (cost Cost, lost int, broken bool) {
	w := &m.clients[c-1]
	return w.cost, int(w.refused), w.broken
}

// Answered is called when client c receives the reply to a command that waited in the server, or a message that it
// waited for.
func (m *Monitor) Answered(c uint8) { m.clients[c-1].blocked, m.answered = false, c }

// Learned is called when client c learns between calls which slot it still holds: its present one or none. It reports
// whether the belief has changed.
func (m *Monitor) Learned(c, held uint8) (less bool) {
	w := &m.clients[c-1]
	if w.believed == held {
		return false
	}
	w.believed = held
	m.exclude(w.lock)
	return true
}
