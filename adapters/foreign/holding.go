package foreign

import (
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// A user may declare what holds a lock, for example owning a queue. After each step, when all clients are at rest, the
// runner compares the server's state with the clients' beliefs:
//
//  - The server must show that each certain holder holds its slot.
//  - The server must not show another client as a holder, unless an operation of that client is under way.
//
// A lock is not judged if the server has shown no holder of it in the run: the declaration does not fit that lock. A
// hold is not judged if slots of its lock were removed after it was requested. Nothing else depends on the declaration.

// shown is what the server has shown of the locks' holders during a run, according to the declaration.
type shown struct {
	believed *beliefs.Judge // finds the certain holds in the history
	events   int            // number of events of the history handled so far
	asked    map[int32]int  // by client: number, from 1, of the event that requested its current hold or acquire
	removals [lock.MaxLocks]removals
	holders  [lock.MaxLocks]bool // the server has shown a holder of the lock in this run
	truth    [lock.MaxLocks]monitor.Truth
	found    bool
}

// removals are the operations that remove slots of a lock: remove and destroy.
type removals struct {
	under int // number of removals that have not ended or whose outcome is unknown
	last  int // number, from 1, of the last event of a removal; 0 if there is none
}

// show begins to compare the server's state with the clients' beliefs, if the user has declared what holds a lock.
func (r *run) show() {
	if r.config.Holding == (holding.Declared{}) || r.about.shares() {
		return
	}
	h := &history.History{Kind: r.config.Kind, Clients: len(r.clients), GoneMayFree: true}
	for _, l := range r.sc.Locks {
		h.Locks, h.Slots = append(h.Locks, l.Name), append(h.Slots, int(l.Slots))
	}
	r.shown = &shown{believed: beliefs.Certain(h, linear.Options{}), asked: make(map[int32]int)}
	for l := range r.sc.Locks {
		r.look(uint8(l))
	}
	r.record.Setup = []scenario.TraceStep{{Action: scenario.Action{Kind: scenario.Step}, Truth: r.shown.truth}}
}

// endStep ends the current step. It records the holders that the server shows, and checks the clients' beliefs against
// them.
func (r *run) endStep() {
	w := r.shown
	if w == nil || r.disagrees() != "" {
		r.record.End(&noTruth)
		return
	}
	holds := make([][]holding.Hold, len(r.sc.Locks))
	for l := range holds {
		holds[l] = r.look(uint8(l))
	}
	r.record.End(&w.truth)
	w.take(r.record.Events)
	for l, all := range holds {
		if len(all) > 0 {
			w.holders[l], r.held = true, true
		}
		if w.holders[l] && !w.found {
			r.contradicted(uint8(l), all)
		}
	}
}

// take handles the events that were added to the history since its last call.
func (w *shown) take(all []history.Event) {
	for ; w.events < len(all); w.events++ {
		e := &all[w.events]
		w.believed.Event(w.events, e)
		if e.Process == history.Nemesis {
			continue
		}
		op := e.F.Op()
		if op == lock.Acquire && e.Type == history.Invoke {
			w.asked[e.Process] = w.events + 1
		}
		if op == lock.Remove || op == lock.Destroy {
			of := &w.removals[e.Lock]
			of.last = w.events + 1
			switch e.Type {
			case history.Invoke:
				of.under++
			case history.OK, history.Fail:
				of.under--
			}
		}
	}
}

// look is the holders of lock l that the server shows now. It also records them for pictures of the execution.
func (r *run) look(l uint8) (all []holding.Hold) {
	_, most := r.slots(l)
	all = r.server.Holders(r.config.Holding, r.place(r.sc.Locks[l].Name), most, func(c gate.Conn) uint8 {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.holder(l, c)
	})
	t := &r.shown.truth[l]
	before := t.Owner
	*t = monitor.Truth{Exists: monitor.AllSlots & (1<<(most+1) - 1)}
	take := func(slot int, client uint8) {
		t.Taken |= 1 << slot
		if client != holding.Anybody {
			t.Owner[slot] = client
		}
	}
	for _, h := range all {
		slot := int(h.Slot)
		if slot == 0 { // a holder without a slot number keeps its place in pictures, or gets a free one
			slot = 1 + slices.IndexFunc(before[1:], func(c uint8) bool { return c == h.Client && c != 0 })
		}
		if slot == 0 || t.Taken>>slot&1 == 1 {
			slot = int(t.Lowest())
		}
		if slot > 0 {
			take(slot, h.Client)
		}
	}
	return all
}

// holder is the number of the client of lock l that has connection c; 0 if it is no client's. The caller must hold mu.
func (r *run) holder(l uint8, c gate.Conn) uint8 {
	of := r.connections[c]
	switch {
	case of == nil:
		return 0
	case r.shared:
		return holding.Anybody
	}
	found := uint8(0)
	for i := range r.clients {
		if p := &r.clients[i]; p.clientHandle == of.client && (found == 0 || p.lock == l) {
			found = p.id
		}
	}
	if of.halfOpen && found > 0 {
		found |= monitor.HalfOpen
	}
	return found
}

// belief is a certain hold: the client, its slot, and the event that granted or confirmed it.
type belief struct {
	client uint8
	slot   uint16
	since  int
}

// beliefs are the certain holds of lock l, without those whose request came before a removal of slots of l.
func (w *shown) beliefs(l uint8) (all []belief) {
	for slot := range uint16(monitor.Slots + 1) {
		for _, b := range w.believed.Holders(uint16(l), slot) {
			if of := w.removals[l]; of.under == 0 && of.last <= w.asked[b.Process] {
				all = append(all, belief{uint8(b.Process), slot, b.Since})
			}
		}
	}
	return all
}

// contradicted records a violation if the server's holders of lock l, given in all, contradict the certain holds of l.
func (r *run) contradicted(l uint8, all []holding.Hold) {
	believed, rest := r.shown.beliefs(l), slices.Clone(all)
	for _, b := range believed {
		shows := func(client uint8) int {
			return slices.IndexFunc(rest, func(h holding.Hold) bool { return h.Client == client && b.of(h) })
		}
		at := shows(b.client)
		if at < 0 {
			at = shows(holding.Anybody)
		}
		if at < 0 {
			r.untrue(l, b, all)
			return
		}
		rest = slices.Delete(rest, at, at+1)
	}
	for _, b := range believed {
		if others := r.besides(b, rest); len(others) > 0 && r.exceeds(l, len(believed)+len(others)) {
			r.reveal(property.MutualExclusion, l, b, ClientName(int(others[0]))+" does as well")
			return
		}
	}
}

// of reports whether the holder h, as shown by the server, has the slot of b.
func (b *belief) of(h holding.Hold) bool {
	return h.Slot == 0 || b.slot == history.AnySlot || uint16(h.Slot) == b.slot
}

// exceeds reports whether lock l has too many holders, after the caller has found one besides a certain holder. If the
// declaration names each slot, both have the same slot, so the result is true. Otherwise more holders than slots are
// too many. After a removal the result is then false, as clients may still hold the removed slots.
func (r *run) exceeds(l uint8, holders int) bool {
	if r.config.Holding.Numbered() {
		return true
	}
	_, most := r.slots(l)
	return holders > most && r.shown.removals[l].last == 0
}

// untrue records a violation: the server does not show the certain hold of b.
func (r *run) untrue(l uint8, b belief, all []holding.Hold) {
	p, who := property.MutualExclusion, "nobody does"
	// The client was told yes by a verify or a refresh, after it had lost a connection.
	if r.record.Events[b.since].F.Op().AsksHeld() {
		p = property.StaleBeliefEnds
	}
	for _, h := range all {
		if h.Client != holding.Anybody && b.of(h) {
			who = "somebody else does"
			if h.Client > 0 {
				who = ClientName(int(h.Client&^monitor.HalfOpen)) + " does"
			}
			break
		}
	}
	r.reveal(p, l, b, who)
}

// besides are the clients other than b's that the server shows to hold b's slot, and that have no operation under way.
func (r *run) besides(b belief, all []holding.Hold) (others []uint8) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range all {
		if !b.of(h) || h.Client == b.client || h.Client == 0 || int(h.Client) > len(r.clients) || slices.Contains(others, h.Client) {
			continue
		}
		if p := &r.clients[h.Client-1]; !p.dead && !p.busy && !p.calling && len(p.parked) == 0 {
			others = append(others, h.Client)
		}
	}
	return others
}

// reveal records a violation: the server contradicts the certain hold of b. who says who holds the slot instead.
func (r *run) reveal(p property.Property, l uint8, b belief, who string) {
	r.shown.found = true
	d := r.config.Holding
	r.accuse(p, b.client, l, fmt.Sprintf("%s was told that it holds %s, but by %s %s %s", ClientName(int(b.client)),
		property.SlotName(r.config.Kind, int(b.slot)), d.Thing(), d.Named(r.sc.Locks[l].Name, int(b.slot)), who))
}

// Unheld says that the declaration has never shown a holder of a lock in any run. It is "" if it has, or if nothing is
// declared.
func (s *Runner) Unheld() string {
	if s.config.Holding == (holding.Declared{}) || s.held {
		return ""
	}
	return fmt.Sprintf("nobody was ever seen to hold a lock by holding: %s; it is judged without that", s.config.Holding)
}
