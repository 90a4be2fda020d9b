package linear

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// A long history is judged while it is read, with a window of events in memory. The first half of the window has been
// judged when the next events are read. Operations that ended before the window are dropped, unless clients hold by
// them or states of the fast check name them. An answer, the end of a connection or a release is therefore known in
// time, unless half a window lies between: then nothing is decided, with that reason. Facts that need the whole
// history are assumed, and a wrong assumption needs another pass.

// roll is what a normaliser has that knows only the end of a history.
type roll struct {
	from      int32                // the event that is the first at hand
	firstCall int32                // the first call that is
	kept      map[int32]*operation // earlier ones that may matter still
	judged    int32                // what is before this event has been
	reach     int                  // how many events after it are at hand, at least
	known     facts
	single    bool         // there is but one permit
	opened    []*operation // judged, and since then the moment to lose what they took is open
	late      string       // what was told too late of what had been judged; "" is nothing
}

// facts are facts about the whole history. Each may turn out to be true, and then stays true.
type facts struct {
	witnessed bool // it records ends of connections
	unnamed   bool // some acquires name no slot
	moved     bool // the number of slots may change
	shrinks   bool // and become less
	disturbed bool // some calls need their slot free at a moment
}

// or are the facts that either knows.
func (f facts) or(g facts) facts {
	return facts{
		witnessed: f.witnessed || g.witnessed, unnamed: f.unnamed || g.unnamed, moved: f.moved || g.moved,
		shrinks: f.shrinks || g.shrinks, disturbed: f.disturbed || g.disturbed,
	}
}

// facts are those that a normaliser has found so far.
func (r *normaliser) facts() facts {
	return facts{
		witnessed: r.witnessed, unnamed: r.unnamed, moved: r.moved, shrinks: r.shrinks,
		disturbed: len(r.disturbed) > 0 || r.roll != nil && r.roll.known.disturbed,
	}
}

// from is the first event at hand.
func (r *normaliser) from() int32 {
	if r.roll == nil {
		return 0
	}
	return r.roll.from
}

// call is the call with a number, nil if it cannot matter any more.
func (l *roll) call(r *normaliser, k int32) *operation {
	if k >= l.firstCall {
		return &r.calls[k-l.firstCall]
	}
	return l.kept[k]
}

// changes notes that something is told of a call that may have been judged otherwise.
func (l *roll) changes(k *operation) {
	if k.inv < l.judged {
		l.tooLate(k.op, k.inv)
	}
}

// tooLate notes that something is told of an operation that was invoked too long ago.
func (l *roll) tooLate(op lock.Op, inv int32) {
	if l.late == "" {
		l.late = fmt.Sprintf("what became of the %s of event %d was told more than %d events later", op, inv, l.reach)
	}
}

// expires records that an operation's slot may be lost from an event on. This matters if the event has been judged, or if
// the operation would have been judged otherwise.
func (l *roll) expires(r *normaliser, k *operation, from int32) {
	switch {
	case k.inv >= l.judged || from >= k.exit && k.traits.has(mayExpire|loose):
	case from < l.judged || k.effect != takes || from < k.ret:
		l.changes(k)
	case r.disturbed.overlap(r.numbered(k.slot), from, endless):
		r.openExit(k)
	}
}

// rollOn has a normaliser begin to forget the beginning of a history of which such facts are known.
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

// numberOf is the number of a call.
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

// presume treats a client's current operation as one that gets no answer.
func (r *normaliser) presume(c *client) {
	inv := c.inv
	r.unanswered(c, lock.NoReason)
	c.inv, c.silent = inv, true
}

// settle completes an operation when it is judged, and reports whether it still is one. finish does the same with the
// whole history in memory.
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

// foresee opens losses that later verifies observe. Until then the free slot must not be given to another client.
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

// forget forgets what is before an event, but for calls that are referred to.
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

// compact forgets which calls without an answer were pending and are not, and those that nothing will bound.
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

// refer keeps the calls that events from one on are about, those that these calls refer to, and those that clients do.
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
