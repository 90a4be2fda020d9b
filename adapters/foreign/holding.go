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

// If a user has declared what holds a lock, the runner looks up the server's state after each step, when all clients are at
// rest. A client that holds a slot for certain must be shown to hold it. No other client may be shown to hold it whose
// operations are over. If the declaration has shown no holder of a lock in the run, that lock is not judged: something else
// holds it. A hold is not judged either if slots of its lock were removed after it was asked for. Nothing else depends on
// the declaration.

// shown is the state that the server has shown during a run, according to the declaration.
type shown struct {
	believed *beliefs.Judge // the certain holds
	events   int            // number of events taken in
	asked    map[int32]int  // by client: the event, from 1, that asked for what the client holds or is acquiring
	removals [lock.MaxLocks]removals
	holders  [lock.MaxLocks]bool // a holder of the lock was shown
	truth    [lock.MaxLocks]monitor.Truth
	found    bool
}

// removals are the operations that remove slots of a lock.
type removals struct {
	under int // removals without a known end
	last  int // the last event of a removal, counted from 1; 0 is none
}

// show looks up the server's state, if a declaration exists.
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

// endStep ends the current step and records the server's state after it, as far as it is declared.
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

// take takes in the events that were added since the last call.
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

// look is who holds lock l, as the server shows it now. Pictures draw the holders from it.
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
		if slot == 0 { // it is drawn where it was before, or else in a free place
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

// holder is the client of lock l that has connection c. mu is held.
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

// belief is a client that holds a slot for certain, and the event that told it so.
type belief struct {
	client uint8
	slot   uint16
	since  int
}

// beliefs are the certain holds of lock l that the server's state can confirm: no slots of l were removed after the hold was
// asked for.
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

// contradicted compares the certain holds of lock l with all, the holds that the server shows.
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

// of reports whether h shows that the client of b holds its slot.
func (b *belief) of(h holding.Hold) bool {
	return h.Slot == 0 || b.slot == history.AnySlot || uint16(h.Slot) == b.slot
}

// exceeds reports whether holders exceeds the limit of one slot or, if slots have no numbers, of lock l. At least one of the
// holders is certain. Clients whose slots were removed still hold them.
func (r *run) exceeds(l uint8, holders int) bool {
	if r.config.Holding.Numbered() {
		return true
	}
	_, most := r.slots(l)
	return holders > most && r.shown.removals[l].last == 0
}

// untrue records that the server does not show the certain hold of b.
func (r *run) untrue(l uint8, b belief, all []holding.Hold) {
	p, who := property.MutualExclusion, "nobody does"
	if r.record.Events[b.since].F.Op().AsksHeld() { // it had lost a connection before it asked
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

// besides are the other clients that are shown to hold the slot of b and have no operation under way.
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

// reveal records that a certain hold is contradicted by the server.
func (r *run) reveal(p property.Property, l uint8, b belief, who string) {
	r.shown.found = true
	d := r.config.Holding
	r.accuse(p, b.client, l, fmt.Sprintf("%s was told that it holds %s, but by %s %s %s", ClientName(int(b.client)),
		property.SlotName(r.config.Kind, int(b.slot)), d.Thing(), d.Named(r.sc.Locks[l].Name, int(b.slot)), who))
}

// Unheld explains that, by the declaration, no client has ever held a lock. It is "" if a client has, or if nothing is
// declared.
func (s *Runner) Unheld() string {
	if s.config.Holding == (holding.Declared{}) || s.held {
		return ""
	}
	return fmt.Sprintf("nobody was ever seen to hold a lock by holding: %s; it is judged without that", s.config.Holding)
}
