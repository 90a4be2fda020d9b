package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// An unanswered (pending) acquire may have taken a slot, or may still take one, or never. This matters only for an
// acquire that was told "full" while a slot seems to be free. The check therefore gives a pending acquire a slot only
// to explain such an answer, or when the connection of the pending acquire ends, since it cannot take effect later.

// pendingAcquires are the unanswered acquires that may still take a slot.
type pendingAcquires struct {
	some bool // there has been an unanswered acquire
	all  []pendingAcquire
	bits uint64 // bits in use; see state.used
	// Pending acquires that no event bounds and that name no slot are equivalent. Only their numbers are kept: those
	// that keep their slot, and those that may lose it at any moment. The first call of each kind represents the
	// others.
	kinds [2]alike
	// faithful has, by slot, a pending acquire that can take only this slot and never loses it. More such acquires of a
	// slot would change nothing.
	faithful []int32
	deadline []int32 // by slot: the event of the next grant's answer, as far as known
	looked   []int32 // by slot: no grant's answer comes before this event
	needs    []int32
	offers   []offer
}

// pendingAcquire is an unanswered acquire that is not equivalent to another. States identify it by a bit.
type pendingAcquire struct {
	call int32
	bit  uint64
}

// The two kinds of equivalent pending acquires: they keep their slot, or may lose it at any moment.
const (
	keeping = iota
	losing
)

type alike struct {
	call  int32
	count int32
}

// offer is a pending acquire that may take a slot. It has a bit, or is one of an equivalent kind, or is a faithful one.
type offer struct {
	call int32
	bit  uint64
	kind int32 // keeping or losing; or none
}

func (g *pendingAcquires) reset(slots int) {
	*g = pendingAcquires{
		all: g.all[:0], faithful: g.faithful[:0], deadline: g.deadline[:0], looked: g.looked[:0], needs: g.needs[:0],
		offers: g.offers[:0], kinds: [2]alike{{call: none}, {call: none}},
	}
	g.grow(slots)
}

// grow extends the slices, so that the lock may have more slots.
func (g *pendingAcquires) grow(slots int) {
	for len(g.faithful) <= slots {
		g.faithful = append(g.faithful, none)
		g.deadline = append(g.deadline, never)
		g.looked = append(g.looked, 0)
	}
}

// add records an unanswered acquire, call k.
func (g *pendingAcquires) add(w *frontier, k int32, c *operation) {
	g.some = true
	switch {
	case c.ret == endless && c.exit == endless && c.slot != history.AnySlot:
		if g.faithful[c.slot] == none {
			g.faithful[c.slot] = k
		}
	case c.ret == endless && c.slot == history.AnySlot && !c.traits.has(openExit):
		kind := keeping
		if c.exit != endless {
			kind = losing
		}
		if g.kinds[kind].count == 0 {
			g.kinds[kind].call = k
		}
		g.kinds[kind].count++
	case ^g.bits == 0:
		w.incomplete = true
	default:
		bit := ^g.bits & (g.bits + 1)
		g.bits |= bit
		g.all = append(g.all, pendingAcquire{call: k, bit: bit})
	}
}

// expire drops the pending acquires whose client's connection ends at the current event, so that they cannot take
// effect later.
func (g *pendingAcquires) expire(w *frontier) {
	n := 0
	for _, p := range g.all {
		if w.r.call(p.call).ret != w.now {
			g.all[n] = p
			n++
			continue
		}
		g.bits &^= p.bit
		for _, st := range w.states {
			st.used &^= p.bit
		}
	}
	g.all = g.all[:n]
}

// collect appends the pending acquires that may take a slot in a state, one of each kind. The acquire that can keep the
// slot longest comes first, since a slot is usually kept until the next grant.
func (g *pendingAcquires) collect(w *frontier, st *state, slot int32) {
	due, from := g.due(w, slot), len(g.offers)
	if k := g.faithful[slot]; k != none && due == endless {
		g.offers = append(g.offers, offer{call: k, kind: none})
	}
	for i, kind := range g.kinds {
		if st.spent[i] < kind.count && (i == losing || due == endless) {
			g.offers = append(g.offers, offer{call: kind.call, kind: int32(i)})
		}
	}
	for _, p := range g.all {
		c := w.r.call(p.call)
		if st.used&p.bit != 0 || c.slot != history.AnySlot && int32(c.slot) != slot || min(c.ret, c.exit) >= due {
			continue
		}
		g.offers = append(g.offers, offer{call: p.call, bit: p.bit, kind: none})
		for i := len(g.offers) - 1; i > from && w.r.call(g.offers[i-1].call).ret < c.ret; i-- {
			g.offers[i], g.offers[i-1] = g.offers[i-1], g.offers[i]
		}
	}
}

// due is the event of the next grant's answer for a slot. From then on no pending acquire may hold the slot. A grant
// whose connection ended during the call does not count, since it may have held the slot earlier. The result is endless
// if the answer is not in memory yet; states are then discarded when the answer comes.
func (g *pendingAcquires) due(w *frontier, slot int32) int32 {
	if g.deadline[slot] > w.now {
		return g.deadline[slot]
	}
	from := w.r.from()
	i := max(g.looked[slot], w.now+1) - from
	for ; int(i) < len(w.r.at); i++ {
		if k := w.r.at[i]; k >= 0 {
			c := w.r.call(k)
			if c.effect == takes && int32(c.slot) == slot && c.ret == i+from && !c.traits.has(interrupted) {
				g.deadline[slot] = c.ret
				return c.ret
			}
		}
	}
	g.looked[slot] = i + from
	return endless
}

// place returns a copy of a state in which a pending acquire holds a slot.
func (w *frontier) place(st *state, slot int32, o offer) *state {
	next := w.clone(st)
	w.occupy(next, slot, o.call)
	next.used |= o.bit
	if o.kind != none {
		next.spent[o.kind]++
	}
	return next
}

// placePending handles an acquire that found the lock full. If a slot was free throughout the call in some state, it
// adds the states in which pending acquires hold every such slot.
func (w *frontier) placePending(c *operation) {
	for _, st := range w.states {
		if w.sawFull(st, c) {
			continue
		}
		g := &w.pending
		g.needs = g.needs[:0]
		for s := int32(1); s <= st.slots; s++ {
			if st.covers(s, c.inv) {
				g.needs = append(g.needs, s)
			}
		}
		w.satisfy(st, g.needs)
	}
}

// fill adds the states in which pending acquires hold every free slot, if an acquire under way needs a full lock.
func (w *frontier) fill(st *state) {
	if st.open == 0 || st.full > w.latest() {
		return
	}
	g := &w.pending
	g.needs = g.needs[:0]
	for s := int32(1); s <= st.slots; s++ {
		if st.cells[s].holder == none {
			g.needs = append(g.needs, s)
		}
	}
	w.satisfy(st, g.needs)
}

// latest is the moment at which an acquire was called: the last one, among acquires under way that find the lock full.
// It is never if there is none.
func (w *frontier) latest() int32 {
	last := int32(never)
	for _, k := range w.waiting {
		if c := w.r.call(k); c.effect == findsFull {
			last = max(last, c.inv)
		}
	}
	return last
}

// satisfy adds the states in which pending acquires hold all of the given slots.
func (w *frontier) satisfy(st *state, slots []int32) {
	g := &w.pending
	from := len(g.offers)
	g.collect(w, st, slots[0])
	for i := from; i < len(g.offers); i++ {
		next := w.place(st, slots[0], g.offers[i])
		if len(slots) == 1 {
			w.add(next)
			continue
		}
		w.satisfy(next, slots[1:])
		w.pool = append(w.pool, next)
	}
	g.offers = g.offers[:from]
}

// last handles pending acquires whose connection ends now. It adds the states in which they held a slot until now.
func (g *pendingAcquires) last(w *frontier) {
	if w.failedAcquire == property.Strong || w.fulls == 0 {
		return
	}
	for _, p := range g.all {
		c := w.r.call(p.call)
		if c.ret != w.now {
			continue
		}
		for i := len(w.states) - 1; i >= 0; i-- {
			w.lastOf(w.states[i], p, int32(c.slot))
		}
	}
}

// lastOf adds the states in which the pending acquire p held a free slot that an acquire under way needs to be taken.
// only is the slot that p names, or AnySlot.
func (w *frontier) lastOf(st *state, p pendingAcquire, only int32) {
	since := w.latest()
	if st.used&p.bit != 0 {
		return
	}
	for s := int32(1); s <= st.slots; s++ {
		if st.covers(s, since) && (only == history.AnySlot || only == s) {
			w.add(w.place(st, s, offer{call: p.call, bit: p.bit, kind: none}))
		}
	}
}
