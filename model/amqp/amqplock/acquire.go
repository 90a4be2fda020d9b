package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Acquiring (guidelines, "Acquiring a Lock"): the client probes A[L], the queue of slot L, and B[L], the queue of its
// holder, for L from 1 upward until a slot is missing or free. Then it claims a free slot by declaring B[L]. If another
// client has declared B[L] first, the declaration breaks the channel. A probe by publish breaks no channel, which is
// why the client probes before it declares.

var acquireSteps = map[Phase]step{
	Scanning: {
		probes: func(p *Protocol, m *Machine) int { return 2 * p.window(m) },
		probe: func(p *Protocol, m *Machine, i int) amqp.Queue {
			slot := int(m.Slot) + i/2
			if i%2 == 0 {
				return p.Layout.A[slot]
			}
			return p.Layout.B[slot]
		},
		decide: scanned,
	},
	ScanningA: {
		probes: one,
		probe:  func(p *Protocol, m *Machine, _ int) amqp.Queue { return p.Layout.A[m.Slot] },
		decide: func(p *Protocol, m *Machine) {
			if !m.seen(0) {
				p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
				return
			}
			p.enter(m, p.claiming(ScanningB, Claiming))
		},
		refused: probed,
	},
	ScanningB: {
		probes: one,
		probe:  func(p *Protocol, m *Machine, _ int) amqp.Queue { return p.holder(m.Slot) },
		decide: func(p *Protocol, m *Machine) {
			if m.seen(0) {
				p.advance(m, 1)
				return
			}
			p.enter(m, Claiming)
		},
		refused: probed,
	},
	Claiming: {
		lead:    1,
		command: declareHolder,
		// The probe that verifies the claim may be sent right behind the declare. If the declare fails, the broker
		// closes the channel and ignores the probe.
		probes: func(p *Protocol, _ *Machine) int {
			if p.confirming() && p.pipeline() > 0 {
				return 1
			}
			return 0
		},
		probe:   func(p *Protocol, m *Machine, _ int) amqp.Queue { return p.Layout.A[m.Slot] },
		decide:  claimed,
		refused: locked,
	},
	Confirming: {
		probes:  one,
		probe:   func(p *Protocol, m *Machine, _ int) amqp.Queue { return p.Layout.A[m.Slot] },
		decide:  func(p *Protocol, m *Machine) { p.confirmed(m, m.seen(0)) },
		refused: probed,
	},
	Withdrawing: {
		lead:    1,
		command: deleteHolder,
		decide: func(p *Protocol, m *Machine) {
			p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Withdrawn, Slot: m.Slot})
		},
		refused: locked,
	},
	ChoosingSlot:   {},
	ChoosingJitter: {},
}

// scanning is the phase that probes the machine's current slot.
func (p *Protocol) scanning() Phase {
	switch {
	case p.Kind == lock.Mutex:
		return p.claiming(ScanningB, Claiming)
	case p.pipeline() > 0 && p.Options.Claim == ClaimSeen:
		return Scanning
	}
	return ScanningA
}

// claiming is the phase with which the client begins to claim an exclusive queue. It is look, the phase that probes
// whether the queue has an owner. If the option Claim is unseen, the client does not probe, and the phase is claim.
func (p *Protocol) claiming(look, claim Phase) Phase {
	if p.Options.Claim == ClaimUnseen {
		return claim
	}
	return look
}

// slots is the largest slot number a scan may reach.
func (p *Protocol) slots() int {
	if p.Kind == lock.Semaphore {
		return p.Layout.Slots
	}
	return 1
}

// window is the number of slots that the current batch of commands probes.
func (p *Protocol) window(m *Machine) int {
	return min(p.pipeline(), p.slots()-int(m.Slot)+1)
}

// holder is the queue that a slot's holder owns: B[L], or the single queue of a true mutex.
func (p *Protocol) holder(slot uint8) amqp.Queue {
	if p.Kind == lock.Mutex {
		return p.Layout.Mutex
	}
	return p.Layout.B[slot]
}

// holderArguments are the arguments with which B queues are declared: those of A queues, except x-expires. With
// x-expires the queue of a held slot would be deleted, since a probe does not count as use (FACTS B17).
func (p *Protocol) holderArguments() amqp.Arguments {
	args := p.Options.Arguments
	args.Has &^= amqp.HasExpires
	args.Expires = 0
	return args
}

// confirming reports whether an acquire probes the slot once more after its claim, before it returns success. For a
// true mutex the claim is enough.
func (p *Protocol) confirming() bool { return p.Options.VerifyFirst && p.Kind != lock.Mutex }

func scanned(p *Protocol, m *Machine) {
	n := p.window(m)
	for i := range n {
		if !m.seen(2 * i) {
			p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
			return
		}
		if !m.seen(2*i + 1) {
			m.Slot += uint8(i)
			p.enter(m, Claiming)
			return
		}
	}
	p.advance(m, n)
}

// advance continues the scan n slots further. Beyond the last slot it ends the acquire: the lock is full.
func (p *Protocol) advance(m *Machine, n int) {
	if int(m.Slot)+n > p.slots() {
		p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
		return
	}
	m.Slot += uint8(n)
	p.enter(m, p.scanning())
}

func claimed(p *Protocol, m *Machine) {
	switch {
	case !m.seen(0) && p.Options.Claim == ClaimUnseen && p.Kind == lock.Semaphore:
		p.advance(m, 1) // the client did not probe before it claimed, so a taken slot is no lost race
	case !m.seen(0):
		p.lost(m)
	case !p.confirming():
		p.confirmed(m, true)
	case p.pipeline() > 0:
		p.confirmed(m, m.seen(1))
	default:
		p.enter(m, Confirming)
	}
}

// confirmed ends a claim. If the slot still exists, the acquire succeeds; otherwise the client deletes its B queue
// again.
func (p *Protocol) confirmed(m *Machine, exists bool) {
	if !exists {
		p.enter(m, Withdrawing)
		return
	}
	m.Held = m.Slot
	p.finish(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
}

// lost handles a claim that met RESOURCE_LOCKED: another client has taken the slot. For a lock with a single slot, the
// acquire then fails. Otherwise the scan continues, up to Retries times.
func (p *Protocol) lost(m *Machine) {
	if p.Kind != lock.Semaphore {
		p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Full})
		return
	}
	m.Tries++
	if int(m.Tries) > p.Options.Retries {
		p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp})
		return
	}
	switch p.Options.Restart {
	case RestartRandom, RestartAny:
		// This acquire has found all slots below the current one taken. A scan that restarts at or below the current
		// slot therefore skips no free slot. A restart above it may skip some.
		p.enter(m, ChoosingSlot)
		return
	case RestartFirst:
		m.Slot = 1
	}
	p.jitter(m)
}

// jitter lets the client wait for a random time before the scan continues, if the option Jitter is not 0.
func (p *Protocol) jitter(m *Machine) {
	if p.Options.Jitter > 0 {
		p.enter(m, ChoosingJitter)
		return
	}
	p.enter(m, p.scanning())
}

func declareHolder(p *Protocol, m *Machine, _ int) amqp.Command {
	return amqp.Command{Method: amqp.QueueDeclare, Queue: p.holder(m.Slot), Flags: amqp.Exclusive, Args: p.holderArguments()}
}

func deleteHolder(p *Protocol, m *Machine, _ int) amqp.Command {
	return amqp.Command{Method: amqp.QueueDelete, Queue: p.holder(m.Slot)}
}
