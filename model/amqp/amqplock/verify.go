package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Verifying (guidelines, "Verifying a Held Lock"): the client probes A[L], the queue of its slot, once, on the
// connection with which it acquired the slot. Any reply means that the connection is alive, and that the client still
// owns its exclusive queue B[L]. The reply's content says whether the slot still exists. If it does not, the client
// gives the slot up.
//
// For brokers without confirms, the guidelines propose "repeated exclusive queue declarations". A client that declares
// B[L] again on its connection learns that the queue exists (FACTS B5) and is its own, but nothing about A[L]. The
// option verify therefore chooses which of the two questions a client asks, or both.

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
	// The probe of the slot may be sent right behind the declare, even as a passive declare: if either breaks the
	// channel, the client no longer holds the slot.
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

// asksSlot reports whether verify also probes the slot after it has declared the B queue again. A true mutex has no
// slot.
func (p *Protocol) asksSlot() bool { return p.Options.Verify == VerifyBoth && p.Kind != lock.Mutex }

// reclaimed continues a verify after its declare of the B queue was answered.
func reclaimed(p *Protocol, m *Machine) {
	switch {
	case !m.seen(0): // the queue belongs to another client
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

// verified ends a verify. If the slot does not exist, the client first gives it up.
func (p *Protocol) verified(m *Machine, exists bool) {
	if exists {
		p.finish(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
		return
	}
	m.Held = 0
	p.enter(m, Relinquishing)
}
