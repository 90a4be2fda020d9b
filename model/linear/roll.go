package linear

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// A long history is judged while it is read. A window of its events is in memory; when the next events are read, the
// first half has been judged. Older operations are dropped, except those that clients still hold slots by, or that
// states of the fast check refer to. An answer, a release or the end of a connection can be used if it comes within
// half a window after the invocation. If it comes later, the history is undecided, with that reason. Facts that need
// the whole history are assumed. If an assumption turns out to be wrong, the history is read once more.

// roll is the state of a normaliser that has only the last events of a history in memory.
type roll struct {
	from      int32                // index of the first event in memory
	firstCall int32                // number of the first call in memory
	kept      map[int32]*operation // earlier calls that may still matter, by number
	judged    int32                // events before this index have been judged
	reach     int                  // smallest number of events in memory after those judged
	known     facts
	single    bool         // the lock is a single permit without a number
	opened    []*operation // operations that got the trait openExit after their invocation was judged
	late      string       // says which fact came too late to be used; "" if none did
}

// facts are facts about a whole history. They begin false, and once true they stay true.
type facts struct {
	witnessed bool // the history records ends of connections
	unnamed   bool // some acquires name no slot
	moved     bool // the number of slots may change
	shrinks   bool // the number of slots may decrease
	disturbed bool // some calls need their slot to be free at a moment
}

// or returns the facts that are in either of two sets.
func (f facts) or(g facts) facts {
	return facts{
		witnessed: f.witnessed || g.witnessed, unnamed: f.unnamed || g.unnamed, moved: f.moved || g.moved,
		shrinks: f.shrinks || g.shrinks, disturbed: f.disturbed || g.disturbed,
	}
}

// facts returns the facts that the normaliser has found so far.
func (r *normaliser) facts() facts {
	return facts{
		witnessed: r.witnessed, unnamed: r.unnamed, moved: r.moved, shrinks: r.shrinks,
		disturbed: len(r.disturbed) > 0 || r.roll != nil && r.roll.known.disturbed,
	}
}

// from is the index of the first event in memory.
func (r *normaliser) from() int32 {
	if r.roll == nil {
		return 0
	}
	return r.roll.from
}

// call returns the operation with the number k; nil if it was dropped because it no longer matters.
func (l *roll) call(r *normaliser, k int32) *operation {
	if k >= l.firstCall {
		return &r.calls[k-l.firstCall]
	}
	return l.kept[k]
}

// changes is called if the interpretation of a call changes. If the call was already judged, the change comes too late.
func (l *roll) changes(k *operation) {
	if k.inv < l.judged {
		l.tooLate(k.op, k.inv)
	}
}

// tooLate records that an event came too long after the invocation of its operation.
func (l *roll) tooLate(op lock.Op, inv int32) {
	if l.late == "" {
		l.late = fmt.Sprintf("what became of the %s of event %d was told more than %d events later", op, inv, l.reach)
	}
}

// expires records that a call may lose its slot at any moment since an event. This fact comes too late if the event was
// already judged, or if the fact would have changed how the operation was judged.
func (l *roll) expires(r *normaliser, k *operation, from int32) {
	switch {
	case k.inv >= l.judged || from >= k.exit && k.traits.has(mayExpire|loose):
	case from < l.judged || k.effect != takes || from < k.ret:
		l.changes(k)
	case r.disturbed.overlap(r.numbered(k.slot), from, endless):
		r.openExit(k)
	}
}

// rollOn begins to drop old events from memory. known are facts from earlier passes. reach is the number of events to
// keep after those that are judged.
func (r *normaliser) rollOn(known facts, reach int) {
	known = known.or(r.facts())
	r.roll = &roll{known: known, reach: reach, single: known.unnamed && !known.moved && r.permits == 1}
	if r.roll.single {
		r.number()
		r.unnamed = true
	}
	if !known.witnessed {
		for _, d := range r.uncertain {
			r.expires(r.call(d.call), d.from, loose)
		}
	}
	r.uncertain = nil
	for i := range r.calls {
		if !known.shrinks {
			r.calls[i].quit = endless
		}
	}
}

// numberOf is the number of an operation that is in memory.
func (r *normaliser) numberOf(c *operation) int32 {
	if i, ok := slices.BinarySearchFunc(r.calls, c.inv, func(k operation, inv int32) int { return cmp.Compare(k.inv, inv) }); ok {
		return r.roll.firstCall + int32(i)
	}
	for k, old := range r.roll.kept {
		if old == c {
			return k
		}
	}
	panic("linear: a call that is not known")
}

// presume treats a client's operation under way as unanswered, since it was not answered within the window.
func (r *normaliser) presume(c *client) {
	inv := c.inv
	r.unanswered(c, lock.NoReason)
	c.inv, c.silent = inv, true
}

// settle prepares a call before it is judged, and reports whether it has an effect. It corresponds to finish, which
// does this if the whole history is in memory.
func (r *normaliser) settle(k *operation) bool {
	known := &r.roll.known
	if k.effect == leaves && k.traits.has(partial) && !known.shrinks {
		k.effect = noEffect
	}
	if k.effect == noEffect {
		r.mark(k.inv, none)
		return false
	}
	k.slot = r.numbered(k.slot)
	r.slots = max(r.slots, r.admin.most, int(k.slot))
	if k.effect == mayTake && (!known.witnessed || known.shrinks || r.h.GoneMayFree) {
		r.setMayExpire(k, k.inv)
	}
	if !known.shrinks {
		k.quit = endless
	}
	r.classifyCall(k)
	return true
}

// foresee looks for verifies in memory that will observe the loss of a slot, and marks these losses as open. Otherwise
// the slot could be given to another client too early.
func (r *normaliser) foresee() {
	for i := range r.calls {
		k := &r.calls[i]
		if k.inv < r.roll.judged || k.effect != findsHeld || k.link == none {
			continue
		}
		g := r.call(k.link)
		was := g.traits.has(openExit)
		r.classifyHeld(k)
		if !was && g.traits.has(openExit) && g.ends() < r.roll.judged {
			r.roll.changes(g)
		}
	}
}

// forget drops the events and calls before an event. It keeps the calls that are still referred to.
func (r *normaliser) forget(before int32, referred func(keep func(k int32))) {
	l := r.roll
	old, first := l.kept, int32(0)
	for int(first) < len(r.calls) && r.calls[first].inv < before {
		first++
	}
	l.kept = make(map[int32]*operation)
	keep := func(k int32) {
		switch i := k - l.firstCall; {
		case k == none || i >= first || l.kept[k] != nil:
		case i >= 0:
			c := r.calls[i]
			l.kept[k] = &c
		case old[k] != nil:
			l.kept[k] = old[k]
		}
	}
	r.refer(before, keep)
	referred(keep)
	r.calls = r.calls[:copy(r.calls, r.calls[first:])]
	r.at = r.at[:copy(r.at, r.at[before-l.from:])]
	l.from, l.firstCall = before, l.firstCall+first
}

// compact drops the pending calls that are over, and those that no event will bound.
func (r *normaliser) compact() {
	old := r.pending
	r.pending = nil
	for i := range r.clients.list {
		c := &r.clients.list[i]
		p := c.pending
		c.pending = none
		for ; p != none && (r.roll.known.witnessed || r.h.GoneLate); p = old[p].next {
			r.pending = append(r.pending, pending{call: old[p].call, next: c.pending})
			c.pending = int32(len(r.pending) - 1)
		}
	}
}

// refer calls keep for each call that is still needed: those of the remaining events, the calls that these refer to,
// and the calls by which clients may hold slots.
func (r *normaliser) refer(before int32, keep func(k int32)) {
	for _, k := range r.at[before-r.roll.from:] {
		if k < 0 {
			continue
		}
		keep(k)
		if c := r.call(k); c.effect != takes {
			keep(c.link)
		}
	}
	r.compact()
	for i := range r.clients.list {
		c := &r.clients.list[i]
		keep(c.call)
		for g := c.grants; g != none; g = r.call(g).link {
			keep(g)
		}
	}
	for _, p := range r.pending {
		keep(p.call)
	}
	for _, g := range r.unknownSessions {
		keep(g)
	}
}
