package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Verifying (guidelines, "Verifying a Held Lock"): one probe of A[L] on the connection that acquired
// the slot. An answer means that the connection is alive, and with it the exclusive B[L]; what is
// left to ask is whether the slot still exists. A holder of a removed slot gives it up.

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
	Relinquishing: {
		lead:    1,
		command: deleteHolder,
		decide: func(p *Protocol, m *Machine) {
			p.finish(m, lock.Result{Outcome: lock.Done, Reason: lock.Removed, Slot: m.Slot})
		},
		refused: locked,
	},
}

func checked(p *Protocol, m *Machine) {
	if m.seen(0) {
		p.finish(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
		return
	}
	m.Held = 0
	p.enter(m, Relinquishing)
}
