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
// time if it comes within half a window; if not, the history is undecided, with that reason. Facts that need the
// whole history are assumed, and a wrong assumption needs another pass.

// roll is the state of a normaliser that has only the end of a history in memory.
type roll struct {
	from      int32                // the first event in memory
	firstCall int32                // the first call in memory
	kept      map[int32]*operation // earlier calls that may still matter
	judged    int32                // the events before this one have been judged
	reach     int                  // number of later events in memory, at least
	known     facts
	single    bool         // there is only one permit
	opened    []*operation // judged operations that have since been found to lose their slot at an open moment
	late      string       // a fact that came too late to be judged by; "" if there is none
}

// facts are facts about the whole history. Each can become true, and then stays true.
type facts struct {
	witnessed bool // it records ends of connections
	unnamed   bool // some acquires name no slot
	moved     bool // the number of slots may change
	shrinks   bool // the number may decrease
	disturbed bool // some calls need their slot free at a moment
}

// or is the union of two sets of facts.
func (f facts) or(g facts) facts {
	return facts{
		witnessed: f.witnessed || g.witnessed, unnamed: f.unnamed || g.unnamed, moved: f.moved || g.moved,
		shrinks: f.shrinks || g.shrinks, disturbed: f.disturbed || g.disturbed,
	}
}

// facts are the facts that a normaliser has found so far.
func (r *normaliser) facts() facts {
	return facts{
		witnessed: r.witnessed, unnamed: r.unnamed, moved: r.moved, shrinks: r.shrinks,
		disturbed: len(r.disturbed) > 0 || r.roll != nil && r.roll.known.disturbed,
	}
}

// from is the first event in memory.
func (r *normaliser) from() int32 {
	if r.roll == nil {
		return 0
	}
	return r.roll.from
}

// call is the call with a number, or nil if it can no longer matter.
func (l *roll) call(r *normaliser, k int32) *operation {
	if k >= l.firstCall {
		return &r.calls[k-l.firstCall]
	}
	return l.kept[k]
}

// changes notes a change of a call that may already have been judged.
func (l *roll) changes(k *operation) {
	if k.inv < l.judged {
		l.tooLate(k.op, k.inv)
	}
}

// tooLate notes an event of an operation that was invoked too long ago.
func (l *roll) tooLate(op lock.Op, inv int32) {
	if l.late == "" {
		l.late = fmt.Sprintf("what became of the %s of event %d was told more than %d events later", op, inv, l.reach)
	}
}

// expires records that an operation's slot may be lost from an event on. This matters if the event has been judged,
// or if the operation would have been judged otherwise.
func (l *roll) expires(r *normaliser, k *operation, from int32) {
	switch {
	case k.inv >= l.judged || from >= k.exit && k.traits.has(mayExpire|loose):
	case from < l.judged || k.effect != takes || from < k.ret:
		l.changes(k)
	case r.disturbed.overlap(r.numbered(k.slot), from, endless):
		r.openExit(k)
	}
}

// rollOn makes a normaliser forget the beginning of the history from now on. known are facts from earlier passes;
// reach is the number of events to keep after the judged ones.
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

// settle completes an operation when it is judged, and reports whether it has an effect. finish does the same with
// the whole history in memory.
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

// foresee makes losses open that later verifies observe. Until then the free slot must not be given to another
// client.
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

// forget forgets what is before an event, except calls that are referred to.
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

// compact drops calls that are no longer pending, and those that nothing will bound.
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

// refer calls keep for the calls of events from one on, the calls that these refer to, and those of clients.
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
