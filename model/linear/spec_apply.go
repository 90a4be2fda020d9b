package linear

import "github.com/lockproof/lockproof/model/history"

// apply carries out an atomic step in a state of the lock. It returns the next state, and whether the sequential
// specification allows the step.
func (p *Specification) apply(s lockState, u *atomicStep) (lockState, bool) {
	switch u.do {
	case doSet:
		return *u.set, true
	case doTake:
		return p.take(s, u)
	case doMayTake:
		return p.mayTake(s, u), true
	case doClaim:
		return s.held(u.slot, u.op).staged(u.stage, 1), s.holder(u.slot) == none
	case doMiss:
		return p.miss(s, u)
	case doGive:
		return p.give(s, u)
	case doFree, doLose:
		return p.without(s, u.grant), true
	case doFreeAny:
		return p.freeAny(s, u)
	case doFreeOwn:
		return p.freeOwn(s, u)
	case doEnd:
		return p.end(s, u), true
	case doStop:
		return s.staged(u.stage, over), true
	case doAdd, doCreate, doRemove, doDestroy:
		return p.administer(s, u)
	}
	return s, p.observe(s, u)
}

// observe reports whether what an atomic step observes, such as "every slot is held", is true in a state.
func (p *Specification) observe(s lockState, u *atomicStep) bool {
	switch u.do {
	case doFull:
		return s.full()
	case doBusy:
		return !s.free(u.slot)
	case doHeld:
		slot := s.slotOf(u.grant)
		return slot > 0 && slot <= s.slots
	case doHeldOwn:
		return u.slot <= s.slots && p.own(&s, u) > 0
	case doCount:
		return s.slots == u.n
	case doVacant:
		return s.holder(u.slot) == none
	}
	return false // for doFail, which is never possible
}

func (p *Specification) take(s lockState, u *atomicStep) (lockState, bool) {
	slot := u.slot
	if slot == history.AnySlot {
		slot = s.spare()
	}
	if slot == 0 || !s.free(slot) {
		return s, false
	}
	return s.held(slot, u.op), true
}

// mayTake takes a slot for an unanswered acquire, if the slot is free and the acquire has none. Otherwise it changes
// nothing. It is always allowed, since the acquire may also take effect after everything else.
func (p *Specification) mayTake(s lockState, u *atomicStep) lockState {
	if s.stage(u.stage) > 0 {
		return s
	}
	if next, ok := p.take(s, u); ok {
		return next.staged(u.stage, hasTaken)
	}
	return s
}

// miss observes that a slot does not exist. If the client has already lost the slot, the observation is not needed.
func (p *Specification) miss(s lockState, u *atomicStep) (lockState, bool) {
	if s.stage(u.stage) != u.at || u.slot <= s.slots && s.slotOf(u.grant) > 0 {
		return s, u.partial
	}
	return s.staged(u.stage, u.at+1), true
}

// give returns a slot after its client saw that the slot does not exist.
func (p *Specification) give(s lockState, u *atomicStep) (lockState, bool) {
	if s.stage(u.stage) != u.at {
		return s, u.partial
	}
	return p.without(s, u.grant).staged(u.stage, u.at+1), true
}

// without returns the state in which call k no longer holds its slot.
func (p *Specification) without(s lockState, k int32) lockState {
	if slot := s.slotOf(k); slot > 0 {
		return s.held(slot, none)
	}
	return s
}

// own is the slot that an unanswered acquire of the step's client has taken; 0 if there is none.
func (p *Specification) own(s *lockState, u *atomicStep) int {
	for slot := 1; slot <= len(s.holders)/holderSize; slot++ {
		k := s.holder(slot)
		if k != none && p.r.calls[k].effect == mayTake && p.r.calls[k].client == u.client && (u.slot == history.AnySlot || u.slot == slot) {
			return slot
		}
	}
	return 0
}

// freeAny frees a held slot, whoever holds it. If the step names no slot, the client's own slot is preferred.
func (p *Specification) freeAny(s lockState, u *atomicStep) (lockState, bool) {
	slot := 0
	for n := len(s.holders) / holderSize; n > 0; n-- {
		k := s.holder(n)
		if k == none || u.slot != history.AnySlot && u.slot != n {
			continue
		}
		if slot == 0 || p.r.calls[k].client == u.client {
			slot = n
		}
	}
	if slot == 0 {
		return s, u.partial
	}
	return s.held(slot, none), true
}

// The stages of an unanswered acquire: it has taken a slot, and the slot was released.
const (
	hasTaken    = 1
	hasReleased = 2
)

// freeOwn releases the slot that an unanswered acquire of the client took. If the history does not record ends of
// connections, the client may already have lost the slot.
func (p *Specification) freeOwn(s lockState, u *atomicStep) (lockState, bool) {
	if slot := p.own(&s, u); slot > 0 {
		k := s.holder(slot)
		return s.held(slot, none).staged(p.stage[k], hasReleased), true
	}
	if !p.r.witnessed {
		for k := range p.r.calls[:u.op] {
			if p.lost(&s, u, int32(k)) {
				return s.staged(p.stage[k], hasReleased), true
			}
		}
	}
	return s, u.partial
}

// lost reports whether call k is an unanswered acquire of the step's client that took a slot and lost it.
func (p *Specification) lost(s *lockState, u *atomicStep, k int32) bool {
	c := &p.r.calls[k]
	return c.effect == mayTake && c.client == u.client && s.stage(p.stage[k]) == hasTaken && s.slotOf(k) == 0 &&
		(c.slot == history.AnySlot || u.slot == history.AnySlot || int(c.slot) == u.slot)
}

// end frees a slot because the connection of its holder ended. If the step has no client, all connections ended.
func (p *Specification) end(s lockState, u *atomicStep) lockState {
	for slot := 1; slot <= len(s.holders)/holderSize; slot++ {
		k := s.holder(slot)
		if (slot == u.slot || u.slot == history.AnySlot) && k != none && (u.client == none || p.r.calls[k].client == u.client) {
			s = s.held(slot, none)
		}
	}
	return s
}

// administer carries out one step of an administrative operation, such as adding one slot.
func (p *Specification) administer(s lockState, u *atomicStep) (lockState, bool) {
	stage := s.stage(u.stage)
	if stage == over {
		return s, true
	}
	if stage != u.at {
		return s, u.partial
	}
	next := s.staged(u.stage, stage+1)
	switch {
	case u.do == doCreate && s.slots < u.at:
		return s, u.partial
	case u.do == doCreate && s.slots > u.at:
	case u.do == doAdd || u.do == doCreate:
		next.slots++
	case s.slots > 0:
		next.slots--
	}
	if u.do == doDestroy && next.slots == 0 {
		next = next.staged(u.stage, over)
	}
	return next, true
}
