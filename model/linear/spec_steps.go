package linear

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// do is the effect of an atomic step.
type do uint8

const (
	doTake do = iota
	doMayTake
	doClaim   // take a slot that need not exist
	doMiss    // see that a slot does not exist
	doGive    // return a slot that was seen gone
	doFree    // release
	doFreeAny // release of any client's hold
	doFreeOwn // release what an unanswered acquire took
	doLose    // lose a slot that may be lost
	doFull    // see every slot held
	doBusy    // see one slot held or missing
	doHeld    // see the client's own slot
	doHeldOwn // see the slot that an unanswered acquire took
	doCount
	doVacant
	doAdd // one step of administration
	doCreate
	doRemove
	doDestroy
	doEnd  // free a client's slot because its connection ended
	doStop // stop the remaining steps of an unanswered administrative operation
	doFail // never possible: nothing explains the answer
	doSet  // set the state in which a piece of the history begins
)

// atomicStep is an operation for porcupine: the part of an operation that takes effect at one moment.
type atomicStep struct {
	do      do
	partial bool  // it is always legal, and may have no effect
	op      int32 // the operation that it is part of; or none
	grant   int32 // the call whose slot it concerns
	client  int32 // the client; none is the environment
	stage   int32 // the index of its call's stage
	slot    int
	at      int // the stage at which it applies
	n       int
	set     *lockState // doSet: the state
	from    int64
	to      int64
}

// ticks are the times for porcupine. Its intervals are closed, so each event has its own tick. The ticks around it
// are for the effects of the end of a connection, slot by slot.
type ticks struct {
	stride, end int64
}

func newTicks(r *normaliser) ticks {
	stride := int64(max(r.slots, r.permits) + 4)
	return ticks{stride: stride, end: stride * int64(len(r.at)+1)}
}

// of is the tick of an event.
func (t ticks) of(event int32) int64 {
	if event == endless {
		return t.end
	}
	return t.stride * int64(event+1)
}

// number gives calls that have a stage an index for it.
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

// decompose adds the atomic steps of a call.
func (p *Specification) decompose(k int32) {
	c := &p.r.calls[k]
	u := atomicStep{
		partial: c.traits.has(partial), op: k, grant: c.link, client: c.client, stage: p.stage[k],
		slot: int(c.slot), n: int(c.n), from: p.ticks.of(c.inv), to: p.ticks.of(c.ret),
	}
	if u.partial && c.ret != endless {
		u.to-- // just before the connection's end
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

// only is the effect of a call with a single atomic step.
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

// emit adds atomic steps that follow one another.
func (p *Specification) emit(u atomicStep, what ...do) {
	for i, d := range what {
		u.do, u.at = d, i
		p.atomicSteps = append(p.atomicSteps, u)
	}
}

// loss adds the atomic step by which a call may lose its slot.
func (p *Specification) loss(c *operation, u atomicStep) {
	if !c.traits.has(mayExpire) {
		return
	}
	u.do, u.grant, u.from, u.to = doLose, u.op, p.ticks.of(c.exit), p.ticks.end
	p.atomicSteps = append(p.atomicSteps, u)
}

// mayTakeAny adds an atomic step for each slot that an unanswered acquire may have taken.
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

// full adds the observations of an acquire that found no free slot.
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

// stepsOf adds the single steps of an administrative operation.
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
		u.to = p.ticks.end // doStop ends it, if anything does
	}
	for u.at = 0; u.at < n; u.at++ {
		p.atomicSteps = append(p.atomicSteps, u)
	}
	if u.partial && c.ret != endless {
		stop.do, stop.from, stop.to = doStop, p.ticks.of(c.ret), p.ticks.of(c.ret)
		p.atomicSteps = append(p.atomicSteps, stop)
	}
}

// ended adds the end of connections, slot by slot.
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

// touches reports whether a client may hold a slot at some time.
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

// row is the row of a visualization in which an atomic step is drawn.
func (p *Specification) row(u *atomicStep) int {
	if u.client == none || u.do == doEnd {
		return len(p.r.clients.list)
	}
	return int(u.client)
}
