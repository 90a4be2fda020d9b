package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// normaliser converts the events of one lock to operations. It interprets each answer, and links each release to its
// acquire. It also bounds the time in which an unanswered operation may take effect, by evidence such as the end of a
// connection. It reuses its memory for the next history.
type normaliser struct {
	h       *history.History
	lock    int
	calls   []operation
	at      []int32 // by event: its call, none, goneOf(client) or restarted
	roll    *roll   // set while only the end of the history is in memory; else nil
	clients clients
	pending []pending // unanswered calls that may still take effect, linked by client

	kind    lock.Kind
	first   int  // number of slots before the first event
	slots   int  // largest slot number that the history needs
	unnamed bool // acquires name no slots: slots are permits without numbers
	permits int  // number of permits, if acquires name no slots

	releases Releases

	witnessed       bool      // the history records ends of connections
	uncertain       []mayLose // losses that may have happened but are not recorded
	unknownSessions []int32   // grants that may have been made on an unknown connection
	unproven        bool      // some call has the trait unproven

	named            bool // some operation names its slot
	admin            admins
	moved            bool // the number of slots may change
	shrinks          bool // the number of slots may decrease
	nondeterministic bool // some operation has no best moment of effect

	last      []int32 // by slot: the last grant's call number, plus 1
	disturbed disturbances
}

// pending is an unanswered call that may take effect until its client's connection ends.
type pending struct {
	call int32
	next int32 // the client's previous pending call (index in pending); or none
}

// mayLose is a call whose slot may be lost at any moment since an event.
type mayLose struct {
	call, from int32
}

// restarted is the mark of an event at which the broker restarted.
const restarted = -2

// goneOf is the mark of an event at which a client's connection ended.
func goneOf(client int32) int32 { return restarted - 1 - client }

// clientOf is the client of a mark made by goneOf.
func clientOf(at int32) int32 { return restarted - 1 - at }

// normalise prepares one lock of a history for a check. With noLock it only checks that the history is well-formed.
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

// over handles the end of the history: operations under way are unanswered.
func (r *normaliser) over() {
	for i := range r.clients.list {
		r.unanswered(&r.clients.list[i], lock.NoReason)
	}
	r.finish()
}

// call returns the operation with the number k. While only the end of the history is in memory, old operations are
// known only if they still matter.
func (r *normaliser) call(k int32) *operation {
	if r.roll == nil {
		return &r.calls[k]
	}
	return r.roll.call(r, k)
}

// mark records what event i is: a call, the end of a connection, or a restart. It does nothing if the event is no
// longer in memory.
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
	case e.Reason.Unheard():
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
	if e.Type == history.Info || e.F.Op().AsksHeld() && e.Reason.Unheard() {
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

// slot is the slot that an event names. For a lock that is no semaphore it is 1.
func (r *normaliser) slot(e *history.Event) uint16 {
	if r.kind != lock.Semaphore && e.Slot == history.AnySlot {
		return 1
	}
	return e.Slot
}

// finish computes what can be known only at the end of the history.
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

// inconsistent reports whether some operations name slots and others do not.
func (r *normaliser) inconsistent() bool { return r.unnamed && (r.named || r.moved) }

// single reports whether the lock is a single permit without a number. It is then treated as slot 1.
func (r *normaliser) single() bool { return r.unnamed && r.permits == 1 && !r.moved }

// numbered returns the slot number to use: 1 for a single permit without a number, else slot.
func (r *normaliser) numbered(slot uint16) uint16 {
	if r.roll != nil && r.roll.single && slot == history.AnySlot {
		return 1
	}
	return slot
}

// number gives the number 1 to the slot of every operation on a single permit.
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

// looseEnds allows that a slot taken by an unanswered acquire is lost at any moment. It is for histories that do not
// record the ends of connections, or what these free. It is also for histories that remove slots, since a client may
// notice the removal and give its slot up.
func (r *normaliser) looseEnds() {
	for i := range r.calls {
		if k := &r.calls[i]; k.effect == mayTake {
			r.setMayExpire(k, k.inv)
		}
	}
}

// lasting handles histories that remove no slot. An unanswered verify then has not given its slot up, since no client
// can see that its slot is gone.
func (r *normaliser) lasting() {
	for i := range r.calls {
		k := &r.calls[i]
		k.quit = endless
		if k.effect == leaves && k.traits.has(partial) {
			k.effect, r.at[k.inv] = noEffect, none
		}
	}
}
