package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Administration (guidelines, "Lock Administration"): the client takes the administration mutex and determines the
// number of slots. If the option Overshoot is set, it deletes queues beyond the last slot. Then it declares A queues
// (slots) upward or deletes them downward. It waits for each reply before it sends the next command.

var adminSteps = map[Phase]step{
	MutexProbing: {
		probes: one,
		probe:  func(p *Protocol, _ *Machine, _ int) amqp.Queue { return p.Layout.Admin },
		decide: func(p *Protocol, m *Machine) {
			if m.seen(0) {
				p.busy(m)
				return
			}
			p.enter(m, MutexClaiming)
		},
		refused: probed,
	},
	MutexClaiming: {
		lead: 1,
		command: func(p *Protocol, _ *Machine, _ int) amqp.Command {
			return amqp.Command{Method: amqp.QueueDeclare, Queue: p.Layout.Admin, Flags: amqp.Exclusive, Args: p.holderArguments()}
		},
		decide: func(p *Protocol, m *Machine) {
			if !m.seen(0) {
				p.busy(m)
				return
			}
			m.Mutex = true
			p.enter(m, p.administering(m))
		},
		refused: locked,
	},
	MutexReleasing: {
		lead: 1,
		command: func(p *Protocol, _ *Machine, _ int) amqp.Command {
			return amqp.Command{Method: amqp.QueueDelete, Queue: p.Layout.Admin}
		},
		decide: func(p *Protocol, m *Machine) {
			m.Mutex = false
			p.finish(m, m.Result)
		},
		refused: locked,
	},
	Measuring: {
		probes:  func(p *Protocol, m *Machine) int { return max(1, min(p.pipeline(), p.slots()-int(m.Slot)+1)) },
		probe:   func(p *Protocol, m *Machine, i int) amqp.Queue { return p.Layout.A[int(m.Slot)+i] },
		decide:  measured,
		refused: probed,
	},
	Pruning:   {lead: 1, command: deleteSlot, decide: pruned},
	Growing:   {lead: 1, command: declareSlot, decide: grown},
	Shrinking: {lead: 1, command: deleteSlot, decide: shrunk},
	Polling: {
		probes:  one,
		probe:   func(p *Protocol, m *Machine, _ int) amqp.Queue { return p.Layout.B[m.Arg] },
		decide:  polled,
		refused: probed,
	},
}

// busy handles a failed attempt at the administration mutex, which another client holds: it tries again, up to
// AdminRetries times.
func (p *Protocol) busy(m *Machine) {
	m.Tries++
	if int(m.Tries) > p.Options.AdminRetries {
		p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Busy})
		return
	}
	p.enter(m, p.claiming(MutexProbing, MutexClaiming))
}

// administering is the phase that follows the administration mutex. It determines the number of slots, except for a
// create without Overshoot, which declares all its slots anyway.
func (p *Protocol) administering(m *Machine) Phase {
	m.Slot = 1
	if m.Op == lock.Create && p.Options.Overshoot == 0 {
		m.Last = m.Arg
		return Growing
	}
	return Measuring
}

// measured handles a batch of probes for the first missing A queue (guidelines, "Determining the Maximum Number of
// Slots").
func measured(p *Protocol, m *Machine) {
	n := steps[Measuring].probes(p, m)
	for i := range n {
		if !m.seen(i) {
			m.Top = m.Slot + uint8(i) - 1
			p.determined(m)
			return
		}
	}
	m.Slot += uint8(n)
	if int(m.Slot) > p.slots() {
		m.Top = uint8(p.slots())
		p.determined(m)
		return
	}
	p.enter(m, Measuring)
}

// determined continues the operation once the number of slots (C in the guidelines) is known.
func (p *Protocol) determined(m *Machine) {
	switch m.Op {
	case lock.Count:
		p.finish(m, lock.Result{Outcome: lock.Done, Slots: m.Top})
	case lock.Create, lock.Add:
		if top := p.overshot(m); top > m.Top {
			m.Slot, m.Last = top, m.Top+1
			p.enter(m, Pruning)
			return
		}
		p.grow(m)
	default:
		p.shrink(m)
	}
}

// overshot is the slot up to which administration deletes queues: C + T in the guidelines, at most the largest slot
// number.
func (p *Protocol) overshot(m *Machine) uint8 {
	return uint8(min(int(m.Top)+p.Options.Overshoot, p.slots()))
}

func pruned(p *Protocol, m *Machine) {
	if m.Slot == m.Last {
		p.grow(m)
		return
	}
	m.Slot--
	p.enter(m, Pruning)
}

// grow declares the missing A queues (slots) upward, A[C+1] to A[C+X] (guidelines, "Adding Slots").
func (p *Protocol) grow(m *Machine) {
	last := int(m.Arg)
	if m.Op == lock.Add {
		last += int(m.Top)
	}
	first := int(m.Top) + 1
	if m.Op == lock.Add && p.Options.AddReading == Literal {
		first = last
	}
	last = min(last, p.slots())
	if first > last {
		p.finish(m, lock.Result{Outcome: lock.Done})
		return
	}
	m.Slot, m.Last = uint8(first), uint8(last)
	p.enter(m, Growing)
}

func grown(p *Protocol, m *Machine) {
	if m.Slot >= m.Last {
		p.finish(m, lock.Result{Outcome: lock.Done})
		return
	}
	m.Slot++
	p.enter(m, Growing)
}

// shrink deletes A queues (slots) downward: from C, or C + T with Overshoot, to C - X + 1 (guidelines, "Removing
// Slots", "Destroying the Semaphore"). With the option RemoveReading literal it deletes one more, as the guidelines
// literally say: down to C - X, or to 0 for a destroy.
func (p *Protocol) shrink(m *Machine) {
	low := 1
	if m.Op == lock.Remove {
		low = max(1, int(m.Top)-int(m.Arg)+1)
	}
	if p.Options.RemoveReading == Literal {
		low--
	}
	high := int(p.overshot(m))
	if low > high {
		p.finish(m, lock.Result{Outcome: lock.Done})
		return
	}
	m.Slot, m.Last = uint8(high), uint8(low)
	if p.Options.Order == Ascending {
		m.Slot, m.Last = m.Last, m.Slot
	}
	p.enter(m, Shrinking)
}

func shrunk(p *Protocol, m *Machine) {
	switch {
	case m.Slot == m.Last:
		p.finish(m, lock.Result{Outcome: lock.Done})
		return
	case m.Slot > m.Last:
		m.Slot--
	default:
		m.Slot++
	}
	p.enter(m, Shrinking)
}

func polled(p *Protocol, m *Machine) {
	if !m.seen(0) {
		p.finish(m, lock.Result{Outcome: lock.Done, Slot: m.Arg})
		return
	}
	m.Tries++
	if int(m.Tries) > p.Options.Polls {
		p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp, Slot: m.Arg})
		return
	}
	p.enter(m, Polling)
}

func deleteSlot(p *Protocol, m *Machine, _ int) amqp.Command {
	return amqp.Command{Method: amqp.QueueDelete, Queue: p.Layout.A[m.Slot]}
}

func declareSlot(p *Protocol, m *Machine, _ int) amqp.Command {
	cmd := amqp.Command{Method: amqp.QueueDeclare, Queue: p.Layout.A[m.Slot], Args: p.Options.Arguments}
	if p.Options.Durable {
		cmd.Flags = amqp.Durable
	}
	return cmd
}
