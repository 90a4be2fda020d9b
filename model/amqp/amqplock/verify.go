package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Verifying (guidelines, "Verifying a Held Lock"): one probe of A[L] on the connection that acquired the slot. A
// reply means that the connection is alive, and with it the exclusive B[L]; its result says whether the slot still
// exists. A holder of a removed slot gives the slot up.
//
// For brokers without confirms the guidelines have "repeated exclusive queue declarations". A client that declares
// B[L] again on its connection learns that the queue exists (FACTS B5) and is its own, but nothing about A[L]. This
// is therefore another question, not another form of the first: option verify.

var verifySteps = map[Phase]step{
	Checking: {
		probes: one,
		probe: func(p *Protocol, m *Machine, _ int) amqp.Queue {
			if p.Kind == lock.Mutex {
				return p.Layout.Mutex
			}
			return p.Layout.A[m.Slot]
		},
		decide:  checked,
		refused: probed,
	},
	// The probe of the slot may be written right behind the declare, even a passive one: if either breaks the
	// channel, the answer is no.
	Reclaiming: {
		lead:    1,
		command: declareHolder,
		probes: func(p *Protocol, _ *Machine) int {
			if p.asksSlot() && p.Options.Pipeline > 0 {
				return 1
			}
			return 0
		},
		probe:  func(p *Protocol, m *Machine, _ int) amqp.Queue { return p.Layout.A[m.Slot] },
		decide: reclaimed,
		refused: func(p *Protocol, m *Machine, code amqp.Code) bool {
			if m.Answered == 0 {
				return code == amqp.ResourceLocked
			}
			return probed(p, m, code)
		},
	},
	Relinquishing: {
		lead:    1,
		command: deleteHolder,
		decide: func(p *Protocol, m *Machine) {
			p.finish(m, lock.Result{Outcome: lock.Done, Reason: lock.Removed, Slot: m.Slot})
		},
		refused: locked,
	},
}

func checked(p *Protocol, m *Machine) { p.verified(m, m.seen(0)) }

// asksSlot reports whether verify also probes the slot after it has declared the holder's queue again. A true mutex
// has no slot.
func (p *Protocol) asksSlot() bool { return p.Options.Verify == VerifyBoth && p.Kind != lock.Mutex }

// reclaimed continues after the holder's queue was declared again.
func reclaimed(p *Protocol, m *Machine) {
	switch {
	case !m.seen(0): // it belongs to another client
		m.Held = 0
		p.finish(m, lock.Result{Outcome: lock.Done, Reason: lock.NotHeld, Slot: m.Slot})
	case !p.asksSlot():
		p.verified(m, true)
	case p.Options.Pipeline > 0:
		p.verified(m, m.seen(1))
	default:
		p.enter(m, Checking)
	}
}

// verified ends a verify: a slot that does not exist is given up.
func (p *Protocol) verified(m *Machine, exists bool) {
	if exists {
		p.finish(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
		return
	}
	m.Held = 0
	p.enter(m, Relinquishing)
}
