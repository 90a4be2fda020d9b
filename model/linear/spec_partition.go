package linear

import (
	"slices"
	"sort"

	"github.com/anishathalye/porcupine"
	"github.com/lockproof/lockproof/model/history"
)

// porcupine's time grows fast with overlapping operations, and its memory with the square of the length. Three measures
// keep both small. Intervals are narrowed where the order is known. The history is cut at moments without an operation
// under way. Slots are checked separately if no operation concerns several.

// tighten narrows the intervals of operations on a slot. If two grants of a slot are certain, their holders had the
// slot in the order of the answers. The second then took the slot after the first returned it.
func (p *Specification) tighten() {
	if p.r.unnamed || p.r.releases == ByAnyone {
		return // without numbers, or if anyone may release, a slot may be taken before its holder returns it
	}
	give := make([]int32, len(p.r.calls)) // by grant: the call that returns its slot, plus 1
	for k := range p.r.calls {
		if c := &p.r.calls[k]; (c.effect == frees || c.effect == leaves) && c.link != none {
			give[c.link] = int32(k) + 1
		}
	}
	from, to := map[int32]int64{}, map[int32]int64{} // new bounds, by call
	for i := range p.r.calls {
		k := &p.r.calls[i]
		if k.effect != takes || k.after == none || k.traits.has(interrupted) {
			continue
		}
		g := &p.r.calls[k.after]
		if g.ends() == endless || g.traits&(interrupted|mayExpire|lost) != 0 {
			continue
		}
		from[int32(i)] = p.ticks.of(g.ends())
		if f := give[k.after] - 1; f != none && p.r.calls[f].inv == g.ends() {
			to[f] = p.ticks.of(k.ret)
		}
	}
	for i := range p.atomicSteps {
		u := &p.atomicSteps[i]
		if t, ok := from[u.op]; ok {
			u.from = max(u.from, t)
		}
		if t, ok := to[u.op]; ok {
			u.to = min(u.to, t)
		}
	}
}

// cut is a moment at which no operation was under way and the state of the lock was certain. event is the first event
// after it.
type cut struct {
	event int32
	state lockState
}

// cut finds the moments at which the history can be cut. Between two cuts there are at least apart events.
func (p *Specification) cut(apart int) (cuts []cut) {
	if p.r.unnamed {
		return nil // it is unknown which permit an acquire took
	}
	state, under, last := p.initial(), 0, 0
	var held heldCount
	for i, at := range p.r.at {
		held.note(p.r, int32(i), at)
		switch {
		case at < none:
			under -= p.bounded(int32(i))
			u := atomicStep{client: none}
			if at != restarted {
				u.client = clientOf(at)
			}
			state = p.end(state, &u)
		case at == none:
		case int(p.r.calls[at].inv) == i:
			under += p.opens(&p.r.calls[at])
		default:
			state = p.settled(state, at)
			under--
		}
		if p.r.releases == ByAnyone && held.held != 0 {
			continue // it is unknown which client holds a slot
		}
		if under == 0 && i+1-last >= apart {
			if p.r.releases == ByAnyone {
				state = p.end(state, &atomicStep{client: none})
			}
			last = i + 1
			cuts = append(cuts, cut{event: int32(last), state: state})
		}
	}
	return cuts
}

// heldCount is the number of held slots if any client may release, according to the answers. Once it is unknown, only a
// restart sets it to 0 again.
type heldCount struct {
	held      int
	releasing int // number of releases under way that will be answered
}

func (t *heldCount) note(r *normaliser, i, at int32) {
	const unknown = 1 << 30
	if at < none {
		switch {
		case at == restarted && t.releasing == 0:
			t.held = 0
		case at == restarted || t.held != 0: // a release under way may concern a slot that is lost here
			t.held = unknown
		}
		return
	}
	if at == none {
		return
	}
	c := &r.calls[at]
	began := c.inv == i
	switch c.effect {
	case mayTake: // an unanswered acquire may hold a slot for ever
		t.held = unknown
	case takes:
		if !began {
			t.held++
		}
	case freesAny:
		switch {
		case !began:
			t.releasing--
			t.held--
		case !c.traits.has(partial):
			t.releasing++
		}
	case leaves:
		t.held = unknown
	}
}

// opens is 1 for an operation that is over with its answer. It is 2 for an uncertain operation: since its answer
// subtracts only 1, the history is never cut again.
func (p *Specification) opens(c *operation) int {
	if c.traits&(interrupted|mayExpire|unproven) != 0 || c.effect >= adds && c.effect <= destroys && (p.mixed || c.traits.has(partial)) {
		return 2
	}
	return 1
}

// bounded is the number of unanswered calls that can no longer take effect after an event.
func (p *Specification) bounded(event int32) (n int) {
	for i := range p.r.calls {
		if c := &p.r.calls[i]; c.effect != noEffect && c.traits.has(partial) && c.ret == event {
			n++
		}
	}
	return n
}

// settled is the state after a call has ended, if no other call is under way.
func (p *Specification) settled(s lockState, k int32) lockState {
	c := &p.r.calls[k]
	n := int(c.n)
	switch c.effect {
	case takes:
		return s.held(int(c.slot), k)
	case frees, leaves:
		return p.without(s, c.link)
	case freesAny:
		s, _ = p.freeAny(s, &atomicStep{slot: int(c.slot), client: c.client})
	case adds:
		s.slots += n
	case creates:
		s.slots = max(s.slots, n)
	case removes:
		s.slots = max(0, s.slots-n)
	case destroys:
		s.slots = 0
	}
	return s
}

// mixes reports whether some administrative operations overlap. Their results are then uncertain.
func (r *normaliser) mixes() bool {
	var end int32 = never
	for i := range r.calls {
		c := &r.calls[i]
		if c.effect < adds || c.effect > destroys {
			continue
		}
		if c.inv < end {
			return true
		}
		end = max(end, c.ret)
	}
	return false
}

// partition divides operations into parts that can be checked separately: by the cuts, and by slot.
func (p *Specification) partition(ops []porcupine.Operation) (parts [][]porcupine.Operation) {
	pieces := make([][]porcupine.Operation, len(p.cuts)+1)
	for _, op := range ops {
		i := sort.Search(len(p.cuts), func(i int) bool { return p.ticks.of(p.cuts[i].event) > op.Call })
		pieces[i] = append(pieces[i], op)
	}
	for i, piece := range pieces {
		for _, part := range p.bySlot(piece) {
			if i > 0 {
				part = append(part, p.set(&p.cuts[i-1]))
			}
			parts = append(parts, part)
		}
	}
	return parts
}

// set is an operation that sets the state at a cut. It is the first operation of the piece after the cut.
func (p *Specification) set(c *cut) porcupine.Operation {
	t := p.ticks.of(c.event) - 1
	u := &atomicStep{do: doSet, op: none, client: none, set: &c.state, from: t, to: t}
	return porcupine.Operation{ClientId: p.row(u), Input: u, Output: u, Call: t, Return: t}
}

// bySlot divides operations by slot, if each of them concerns only one slot.
func (p *Specification) bySlot(ops []porcupine.Operation) [][]porcupine.Operation {
	if p.r.unnamed || slices.ContainsFunc(ops, func(op porcupine.Operation) bool { return !p.local(op.Input.(*atomicStep)) }) {
		return [][]porcupine.Operation{ops}
	}
	slots := make([][]porcupine.Operation, p.r.slots+1)
	for _, op := range ops {
		s := op.Input.(*atomicStep).slot
		slots[s] = append(slots[s], op)
	}
	return slices.DeleteFunc(slots, func(ops []porcupine.Operation) bool { return len(ops) == 0 })
}

// local reports whether an atomic step concerns only its own slot.
func (p *Specification) local(u *atomicStep) bool {
	switch u.do {
	case doTake, doBusy, doHeld, doVacant, doFree, doFreeAny, doLose, doEnd:
		return u.slot != history.AnySlot && (u.grant == none || p.r.calls[u.grant].slot != history.AnySlot)
	case doMayTake:
		return p.r.calls[u.op].slot != history.AnySlot
	}
	return false
}
