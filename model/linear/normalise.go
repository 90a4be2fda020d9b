package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// normaliser turns the events of one lock into operations. It interprets each answer, pairs each release with its
// acquire, and bounds unanswered operations by the evidence in the history. It reuses its memory for the next
// history.
type normaliser struct {
	h       *history.History
	lock    int
	calls   []operation
	at      []int32 // by event: its call, none, goneOf its client, or restarted
	roll    *roll   // if only the end of the history is in memory; or nil
	clients clients
	pending []pending // unanswered calls that may still take effect, by client

	kind    lock.Kind
	first   int  // number of slots before the first event
	slots   int  // the largest slot number that matters
	unnamed bool // slots are permits without numbers
	permits int  // number of such permits

	releases Releases

	witnessed       bool      // the history records ends of connections
	uncertain       []mayLose // possible losses that the history does not record
	unknownSessions []int32   // takes on unknown connections
	unproven        bool      // some call is

	named            bool // some operation named its slot
	admin            admins
	moved            bool // the number of slots may change
	shrinks          bool // it may decrease
	nondeterministic bool // the moment of some operation must be chosen

	last      []int32 // by slot: the latest take, plus 1
	disturbed disturbances
}

// pending is an unanswered call whose client's connection may still end.
type pending struct {
	call int32
	next int32 // the client's previous one
}

// mayLose is a call that may lose what it took at any moment from an event on.
type mayLose struct {
	call, from int32
}

// The kinds of an event without an operation.
const restarted = -2

// goneOf marks the end of a client's connection.
func goneOf(client int32) int32 { return restarted - 1 - client }

// clientOf is the client whose connection ended.
func clientOf(at int32) int32 { return restarted - 1 - at }

// normalise normalises one lock of a history. With noLock it only checks whether the history is well-formed.
func (r *normaliser) normalise(h *history.History, l int, o Options) *Malformed {
	if err := checkShape(h); err != nil {
		return err
	}
	r.begin(h, l, o)
	for i := range h.Events {
		if err := r.event(int32(i), &h.Events[i]); err != nil {
			return err
		}
	}
	r.over()
	return nil
}

// over handles the end of the history.
func (r *normaliser) over() {
	for i := range r.clients.list {
		r.unanswered(&r.clients.list[i], lock.NoReason)
	}
	r.finish()
}

// call returns the operation with a number. If only the end of the history is in memory, the operation must be one
// that still matters.
func (r *normaliser) call(k int32) *operation {
	if r.roll == nil {
		return &r.calls[k]
	}
	return r.roll.call(r, k)
}

// mark sets the kind of an event, if it is still in memory.
func (r *normaliser) mark(i, at int32) {
	if i -= r.from(); i >= 0 {
		r.at[i] = at
	}
}

func (r *normaliser) begin(h *history.History, l int, o Options) {
	r.clients.reset()
	*r = normaliser{
		h: h, lock: l, roll: nil, kind: h.Kind, clients: r.clients, calls: r.calls[:0], at: r.at[:0], pending: r.pending[:0],
		uncertain: r.uncertain[:0], unknownSessions: r.unknownSessions[:0], disturbed: r.disturbed[:0], last: r.last,
	}
	switch {
	case l == noLock:
	case h.Kind == lock.Mutex:
		r.first = 1
	default:
		r.first = h.Slots[l]
	}
	clear(r.last)
	r.permits = r.first
	if o.Permits > 0 && h.Kind != lock.Mutex {
		r.permits = o.Permits
	}
	r.releases = o.Releases
	r.admin.reset(r.first)
	if cap(r.at) < len(h.Events) {
		r.at = make([]int32, 0, len(h.Events))
	}
	if want := len(h.Events)/2 + 1; l != noLock && cap(r.calls) < want {
		r.calls = make([]operation, 0, want)
	}
}

func (r *normaliser) event(i int32, e *history.Event) *Malformed {
	if err := checkEvent(r.h, i, e); err != nil {
		return err
	}
	r.at = append(r.at, none)
	if e.Process == history.Nemesis {
		r.world(i, e)
		return nil
	}
	c := r.clients.index(e.Process)
	if e.Type == history.Invoke {
		return r.invoke(i, c, e)
	}
	return r.complete(i, &r.clients.list[c], e)
}

func (r *normaliser) invoke(i, ci int32, e *history.Event) *Malformed {
	c := &r.clients.list[ci]
	if c.inv != none {
		return unexpected(i, e, c)
	}
	c.ended = c.ended || c.gone != none && !r.h.GoneMayFree
	c.inv, c.gone, c.call, c.f, c.lock = i, none, none, e.F, e.Lock
	if int(e.Lock) != r.lock {
		return nil
	}
	c.call = int32(len(r.calls))
	if r.roll != nil {
		c.call += r.roll.firstCall
	}
	r.mark(i, c.call)
	r.calls = append(r.calls, operation{
		inv: i, ret: endless, client: ci, link: none, after: none, exit: endless, quit: endless,
		slot: r.slot(e), n: e.Slots, op: e.F.Op(),
	})
	if e.F.Op().Administrative() {
		r.admin.begin(e.F.Op(), int(e.Slots))
	}
	return nil
}

func (r *normaliser) complete(i int32, c *client, e *history.Event) *Malformed {
	if c.inv == none || c.f != e.F || c.lock != e.Lock {
		return unexpected(i, e, c)
	}
	if c.silent {
		r.roll.tooLate(c.f.Op(), c.inv)
		c.silent, c.inv = false, none
		return nil
	}
	switch {
	case disconnecting(e.Reason):
		r.mayLose(c, c.lossSince(e.Reason))
	case e.Type != history.Info:
		c.heard = i
	}
	if c.call == none {
		c.inv = none
		return nil
	}
	k := r.call(c.call)
	if s := r.slot(e); s != history.AnySlot {
		k.slot = s
	}
	if e.Type == history.Info || e.F.Op().AsksHeld() && disconnecting(e.Reason) {
		r.unanswered(c, e.Reason)
		return nil
	}
	k.ret = i
	r.answer(c, k, e)
	if k.effect == noEffect {
		r.mark(k.inv, none)
	} else {
		r.mark(i, c.call)
	}
	c.inv, c.call = none, none
	return nil
}

// slot is the slot that an event names. A mutex has only one.
func (r *normaliser) slot(e *history.Event) uint16 {
	if r.kind != lock.Semaphore && e.Slot == history.AnySlot {
		return 1
	}
	return e.Slot
}

// disconnecting reports whether the reason of an answer says that the connection may be lost.
func disconnecting(why lock.Reason) bool {
	return why == lock.Disconnected || why == lock.TimedOut || why == lock.Crashed
}

// finish settles facts that need the whole history.
func (r *normaliser) finish() {
	if r.lock == noLock {
		return
	}
	r.slots = r.admin.most
	if r.single() {
		r.number()
	}
	for i := range r.calls {
		if k := &r.calls[i]; k.effect != noEffect {
			r.slots = max(r.slots, int(k.slot))
		}
	}
	if !r.witnessed {
		for _, d := range r.uncertain {
			r.setMayExpire(r.call(d.call), d.from)
		}
	}
	if !r.witnessed || r.shrinks || r.h.GoneMayFree {
		r.looseEnds()
	}
	if !r.shrinks {
		r.lasting()
	}
	r.classify()
}

// inconsistent reports whether only some operations name slots.
func (r *normaliser) inconsistent() bool { return r.unnamed && (r.named || r.moved) }

// single reports whether there is only one permit, which then has the number 1.
func (r *normaliser) single() bool { return r.unnamed && r.permits == 1 && !r.moved }

// numbered is the number of a slot; a single permit has the number 1.
func (r *normaliser) numbered(slot uint16) uint16 {
	if r.roll != nil && r.roll.single && slot == history.AnySlot {
		return 1
	}
	return slot
}

// number gives a single permit the number 1.
func (r *normaliser) number() {
	r.unnamed, r.first, r.slots = false, 1, max(1, r.slots)
	for i := range r.calls {
		if k := &r.calls[i]; k.slot == history.AnySlot {
			k.slot = 1
		}
	}
	clear(r.last)
	for i, at := range r.at {
		if at >= 0 && r.call(at).effect == takes && int(r.call(at).ret) == i {
			r.follow(r.call(at), at)
		}
	}
}

// looseEnds lets unanswered acquires lose their slots at any moment in two kinds of histories: those that do not
// record the ends of connections, or what these free; and those that remove slots, since the client may have noticed
// the removal.
func (r *normaliser) looseEnds() {
	for i := range r.calls {
		if k := &r.calls[i]; k.effect == mayTake {
			r.setMayExpire(k, k.inv)
		}
	}
}

// lasting is for histories that remove no slot. No slot can then be seen gone, and an unanswered verify has given
// nothing up.
func (r *normaliser) lasting() {
	for i := range r.calls {
		k := &r.calls[i]
		k.quit = endless
		if k.effect == leaves && k.traits.has(partial) {
			k.effect, r.at[k.inv] = noEffect, none
		}
	}
}
