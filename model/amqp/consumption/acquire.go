package consumption

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Acquiring. To acquire a mutex, the client first reads the number of consumers of the lock's queue, which breaks no
// channel (FACTS C4). If there is none, the client consumes the queue exclusively. If another client was faster, the
// broker closes the client's channel (FACTS C1). To acquire a semaphore, the client takes a token: by basic.get, which
// is answered at once, or by a consumer that waits for a delivery. Once a consumer has its token, it is cancelled, so
// that it takes no further tokens (FACTS C10).

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

// looked continues an acquire after the queue's numbers of messages and consumers are known from the reply r.
func looked(p *Protocol, m *Machine, r amqp.Reply) {
	switch tokens := p.Kind == lock.Semaphore; {
	case tokens && m.Consuming && m.Spare > 0: // an earlier acquire's consumer has received this token
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

// got continues an acquire after the token that it waited for has arrived.
func (p *Protocol) got(m *Machine) {
	if p.Settings.Standing {
		p.held(m)
		return
	}
	p.enter(m, Cancelling)
}

// checked handles a verify's reply. The token or the consumer belongs to the channel, so a reply on that channel means
// that the client still has it. If the queue were gone, basic.cancel would have arrived before the reply. With the
// option ByCount, the client only checks that the queue has any consumer at all.
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

// recount handles a channel error during a verify, and reports whether it has handled it. Code 404 means that the queue
// is gone: the lock is not held. With the option ByCount, after any other error the client asks again on a new channel.
// Without that option, any other error is left to the caller.
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
