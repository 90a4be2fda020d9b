package consumption

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Acquiring. A mutex first reads the number of its queue's consumers, which breaks no channel (FACTS C4). If there
// are none, it consumes the queue exclusively; a client that loses this race loses its channel (FACTS C1). A token is
// taken by basic.get, which is answered at once, or by a consumer that waits for it. Once it has the token, the
// consumer is cancelled, so that it takes no other (FACTS C10).

var acquireSteps = map[Phase]step{
	Declaring: {
		command: func(p *Protocol, _ *Machine) amqp.Command { return p.declaring() },
		decide:  looked,
	},
	Looking: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			return amqp.Command{Method: amqp.QueueDeclare, Queue: p.Layout.Lock, Flags: amqp.Passive}
		},
		decide:  looked,
		refused: gone((*Protocol).full),
	},
	Consuming: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			cmd := amqp.Command{Method: amqp.BasicConsume, Queue: p.Layout.Lock, Number: Consumer}
			if p.Kind != lock.Semaphore {
				cmd.Flags = amqp.NoAck
				if p.Settings.Exclusive {
					cmd.Flags |= amqp.Exclusive
				}
			}
			return cmd
		},
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.Consuming = true
			if p.Kind == lock.Semaphore {
				m.Tag = 0
				p.enter(m, Waiting)
				return
			}
			p.held(m)
		},
		refused: func(p *Protocol, m *Machine, code amqp.Code) bool {
			if code == amqp.AccessRefused || code == amqp.NotFound {
				p.full(m)
			}
			return code == amqp.AccessRefused || code == amqp.NotFound
		},
	},
	Waiting: {},
	Cancelling: {
		command: cancelling,
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.Consuming = false
			if m.Tag == 0 {
				p.full(m)
				return
			}
			p.held(m)
		},
	},
	Getting: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			return amqp.Command{Method: amqp.BasicGet, Queue: p.Layout.Lock}
		},
		decide: func(p *Protocol, m *Machine, r amqp.Reply) {
			if r.Kind == amqp.GetEmpty {
				p.full(m)
				return
			}
			m.Tag = uint16(r.Number)
			p.held(m)
		},
		refused: gone((*Protocol).full),
	},
	Checking: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			return amqp.Command{Method: amqp.QueueDeclare, Queue: p.Layout.Lock, Flags: amqp.Passive}
		},
		decide:  checked,
		refused: recount,
	},
}

// acquiring is the first phase of an acquire.
func (p *Protocol) acquiring(m *Machine) Phase {
	switch {
	case p.Kind == lock.Semaphore && m.Consuming:
		return Looking
	case p.Settings.Creator == ByClient && p.Kind != lock.PersistentMutex && !(p.Kind == lock.Semaphore && p.Settings.Acquire == ByConsume):
		return Declaring
	case p.Kind != lock.Semaphore:
		return Looking
	case p.Settings.Acquire == ByConsume:
		return Consuming
	}
	return Getting
}

// looked continues with the queue's counters.
func looked(p *Protocol, m *Machine, r amqp.Reply) {
	switch tokens := p.Kind == lock.Semaphore; {
	case tokens && m.Consuming && m.Spare > 0: // the consumer stayed after an earlier acquire; this token came unasked
		m.Tag, m.Slot, m.Spare, m.SpareSlot = m.Spare, m.SpareSlot, 0, 0
		p.held(m)
	case tokens && m.Consuming:
		p.enter(m, Waiting)
	case tokens && r.Messages == 0, !tokens && p.Settings.Exclusive && r.Consumers > 0:
		p.full(m)
	case tokens:
		p.enter(m, Getting)
	default:
		p.enter(m, Consuming)
	}
}

// got continues with the token that the client waited for.
func (p *Protocol) got(m *Machine) {
	if p.Settings.Standing {
		p.held(m)
		return
	}
	p.enter(m, Cancelling)
}

// checked handles a verify's reply. The token or the consumer belongs to the channel, so a reply on that channel says
// that both still exist; if the queue is gone, basic.cancel arrives before the reply. The number of consumers says
// whether any client consumes.
func checked(p *Protocol, m *Machine, r amqp.Reply) {
	held := m.Held > 0
	if p.Settings.Verify == ByCount {
		held = r.Consumers > 0
	}
	if held {
		m.Held = m.Slot
		p.finish(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
		return
	}
	m.Held = 0
	p.finish(m, lock.Result{Outcome: lock.Done, Reason: lock.Removed, Slot: m.Slot})
}

// recount handles a channel error of a verify: 404 says that the queue is gone. With the option ByCount, other errors
// make the client ask again on a new channel.
func recount(p *Protocol, m *Machine, code amqp.Code) bool {
	switch {
	case code == amqp.NotFound:
		p.finish(m, lock.Result{Outcome: lock.Done, Reason: lock.Removed, Slot: m.Slot})
	case p.Settings.Verify == ByCount && m.Repairs < amqplock.MaxRepairs:
		m.Repairs++
		p.repair(m, Checking)
	default:
		return false
	}
	return true
}

func cancelling(*Protocol, *Machine) amqp.Command {
	return amqp.Command{Method: amqp.BasicCancel, Number: Consumer}
}
