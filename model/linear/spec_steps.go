package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// do is what an atomic step does to the lock, or observes.
type do uint8

const (
	doTake do = iota
	doMayTake
	doClaim   // take a slot, which need not exist
	doMiss    // see that a slot does not exist
	doGive    // return a slot that was seen missing
	doFree    // return the slot of a grant
	doFreeAny // return a slot that any client holds
	doFreeOwn // return a slot that an unanswered acquire took
	doLose    // lose a slot without a call
	doFull    // see that every slot is held
	doBusy    // see that one slot is held or missing
	doHeld    // see that the client holds the slot of its grant
	doHeldOwn // see that an unanswered acquire of the client took the slot
	doCount
	doVacant
	doAdd // administer one slot
	doCreate
	doRemove
	doDestroy
	doEnd  // free a slot because its client's connection ended
	doStop // skip the remaining steps of an unanswered administrative operation
	doFail // never allowed: the answer has no explanation
	doSet  // set the state at a cut of the history
)

// atomicStep is an operation as porcupine sees it. It is the part of a client's operation that takes effect at one
// moment.
type atomicStep struct {
	do      do
	partial bool  // the step is always allowed, and may have no effect
	op      int32 // call that the step is part of; or none
	grant   int32 // call whose slot the step concerns; or none
	client  int32 // client of the call; none for the environment
	stage   int32 // index of its call's stage in a state; or none
	slot    int
	at      int // stage at which the step is the next
	n       int
	set     *lockState // the state to set, for doSet
	from    int64
	to      int64
}

// ticks converts events to times for porcupine. Porcupine's intervals are closed, so different events have different
// times. After each event there is room for the ends of connections, with a time for each slot.
type ticks struct {
	stride, end int64
}

func newTicks(r *normaliser) ticks {
	stride := int64(max(r.slots, r.permits) + 4)
	return ticks{stride: stride, end: stride * int64(len(r.at)+1)}
}

// of is the time of an event.
func (t ticks) of(event int32) int64 {
	if event == endless {
		return t.end
	}
	return t.stride * int64(event+1)
}

// number gives an index to each call that has a stage in the lock's state.
func (p *Specification) number() {
	p.stage = make([]int32, len(p.r.calls))
	for i := range p.r.calls {
		p.stage[i] = none
		switch p.r.calls[i].effect {
		case mayTake, claims, leaves, adds, creates, removes, destroys:
			p.stage[i] = int32(p.stages)
			p.stages++
		}
	}
}

// decompose adds the atomic steps of call k.
func (p *Specification) decompose(k int32) {
	c := &p.r.calls[k]
	u := atomicStep{
		partial: c.traits.has(partial), op: k, grant: c.link, client: c.client, stage: p.stage[k],
		slot: int(c.slot), n: int(c.n), from: p.ticks.of(c.inv), to: p.ticks.of(c.ret),
	}
	if u.partial && c.ret != endless {
		u.to-- // just before the end of the connection
	}
	switch c.effect {
	case takes:
		p.emit(u, doTake)
		p.loss(c, u)
	case mayTake:
		p.mayTakeAny(c, u)
	case claims:
		u.grant = k
		p.emit(u, doClaim, doMiss, doGive)
	case findsFull:
		p.full(u)
	case leaves:
		p.emit(u, doMiss, doGive)
	case adds, creates, removes, destroys:
		p.stepsOf(c, u)
	case noEffect:
	default:
		p.emit(u, p.only(c))
	}
}

// only returns what the atomic step of a call does. The call must consist of a single atomic step.
func (p *Specification) only(c *operation) do {
	own := c.traits.has(unproven)
	switch {
	case c.effect == frees && own:
		return doFreeOwn
	case c.effect == frees:
		return doFree
	case c.effect == freesAny:
		return doFreeAny
	case c.effect == findsHeld && own:
		return doHeldOwn
	case c.effect == findsHeld:
		return doHeld
	case c.effect == findsCount:
		return doCount
	case c.effect == findsFree:
		return doVacant
	}
	return doFail
}

// emit adds atomic steps of a call that must follow each other.
func (p *Specification) emit(u atomicStep, what ...do) {
	for i, d := range what {
		u.do, u.at = d, i
		p.atomicSteps = append(p.atomicSteps, u)
	}
}

// loss adds an atomic step by which a call loses its slot, if it may lose it.
func (p *Specification) loss(c *operation, u atomicStep) {
	if !c.traits.has(mayExpire) {
		return
	}
	u.do, u.grant, u.from, u.to = doLose, u.op, p.ticks.of(c.exit), p.ticks.end
	p.atomicSteps = append(p.atomicSteps, u)
}

// mayTakeAny adds an atomic step for each slot that an unanswered acquire may take.
func (p *Specification) mayTakeAny(c *operation, u atomicStep) {
	first, last := u.slot, u.slot
	if u.slot == history.AnySlot && !p.r.unnamed {
		first, last = 1, p.r.slots
	}
	p.loss(c, u)
	for u.slot = first; u.slot <= last; u.slot++ {
		p.emit(u, doMayTake)
	}
}

// full adds the atomic steps of an acquire that found no free slot. Under strong semantics, one step sees that all
// slots are held. Under weak semantics, one step for each slot sees that the slot is held or missing.
func (p *Specification) full(u atomicStep) {
	if p.failedAcquire == property.Strong {
		p.emit(u, doFull)
		return
	}
	if p.r.unnamed {
		return
	}
	for s := 1; s <= p.r.slots; s++ {
		u.slot = s
		p.emit(u, doBusy)
	}
}

// stepsOf adds an atomic step for each slot that an administrative operation changes.
func (p *Specification) stepsOf(c *operation, u atomicStep) {
	n := u.n
	switch c.effect {
	case adds:
		u.do = doAdd
	case creates:
		u.do = doCreate
	case removes:
		u.do = doRemove
	case destroys:
		u.do, n = doDestroy, max(1, p.r.slots)
	}
	stop := u
	if u.partial {
		u.to = p.ticks.end // at any time; if the connection ends, doStop skips the steps that are left
	}
	for u.at = 0; u.at < n; u.at++ {
		p.atomicSteps = append(p.atomicSteps, u)
	}
	if u.partial && c.ret != endless {
		stop.do, stop.from, stop.to = doStop, p.ticks.of(c.ret), p.ticks.of(c.ret)
		p.atomicSteps = append(p.atomicSteps, stop)
	}
}

// ended adds the atomic steps that free slots at the end of a connection, or of all, with a step for each slot.
func (p *Specification) ended(event, at int32) {
	u := atomicStep{do: doEnd, op: none, grant: none, client: none, stage: none}
	if at != restarted {
		u.client = clientOf(at)
	}
	if p.r.unnamed {
		u.from, u.to = p.ticks.of(event), p.ticks.of(event)
		p.atomicSteps = append(p.atomicSteps, u)
		return
	}
	for s := 1; s <= p.r.slots; s++ {
		if u.client != none && !p.touches(u.client, s) {
			continue
		}
		u.slot, u.from = s, p.ticks.of(event)+int64(s)
		u.to = u.from
		p.atomicSteps = append(p.atomicSteps, u)
	}
}

// touches reports whether a client may ever hold a slot.
func (p *Specification) touches(client int32, slot int) bool {
	for i := range p.r.calls {
		c := &p.r.calls[i]
		if c.client != client {
			continue
		}
		switch c.effect {
		case takes, claims:
			if int(c.slot) == slot {
				return true
			}
		case mayTake:
			if c.slot == history.AnySlot || int(c.slot) == slot {
				return true
			}
		}
	}
	return false
}

// row is the row in which porcupine's visualization draws an atomic step. Each client has a row, and the environment
// has the last.
func (p *Specification) row(u *atomicStep) int {
	if u.client == none || u.do == doEnd {
		return len(p.r.clients.list)
	}
	return int(u.client)
}
