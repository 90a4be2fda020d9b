package consumption

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Administration. A persistent mutex exists as long as its queue does. A semaphore has a token, which is a message, for
// each slot. Slots are added by publishing tokens, and removed by taking tokens, which has to wait for their holders.
// The broker does not say how many tokens are held (FACTS C9). An accounted semaphore therefore has a second queue with
// one message for each slot, and the guidelines' administration mutex. Its administration changes both queues in one
// transaction.

var adminSteps = map[Phase]step{
	Claiming: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			return amqp.Command{Method: amqp.QueueDeclare, Queue: p.Layout.Admin, Flags: amqp.Exclusive}
		},
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.Mutex = true
			p.enter(m, p.first(m))
		},
		refused: inUse(amqp.ResourceLocked),
	},
	Unclaiming: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			return amqp.Command{Method: amqp.QueueDelete, Queue: p.Layout.Admin}
		},
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.Mutex = false
			p.finish(m, m.Result)
		},
	},
	Making: {
		command: func(p *Protocol, _ *Machine) amqp.Command { return p.declaring() },
		decide:  made,
	},
	Accounting: {
		command: func(p *Protocol, _ *Machine) amqp.Command { return p.account() },
		decide: func(p *Protocol, m *Machine, r amqp.Reply) {
			m.Top = uint8(r.Messages)
			p.change(m)
		},
	},
	Growing: {
		again:   true,
		command: func(p *Protocol, _ *Machine) amqp.Command { return p.token(p.Layout.Lock) },
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			if p.Settings.Admin == Accounted {
				p.enter(m, Entering)
				return
			}
			p.grown(m)
		},
	},
	Entering: {
		command: func(p *Protocol, _ *Machine) amqp.Command { return p.token(p.Layout.Account) },
		decide:  func(p *Protocol, m *Machine, _ amqp.Reply) { p.grown(m) },
	},
	Collecting: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			return amqp.Command{Method: amqp.BasicGet, Queue: p.Layout.Lock}
		},
		decide:  collected,
		refused: gone(func(p *Protocol, m *Machine) { p.repair(m, p.first(m)) }),
	},
	Tallying: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			return amqp.Command{Method: amqp.BasicGet, Queue: p.Layout.Account}
		},
		decide: func(p *Protocol, m *Machine, r amqp.Reply) {
			m.Last = uint16(r.Number)
			if m.Count--; m.Count == 0 {
				p.enter(m, AckingAll)
			}
		},
	},
	AckingAll: {
		command: func(_ *Protocol, m *Machine) amqp.Command {
			return amqp.Command{Method: amqp.BasicAck, Number: uint64(m.Last), Flags: amqp.Multiple}
		},
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) { p.changed(m) },
	},
	NackingAll: {
		command: func(_ *Protocol, m *Machine) amqp.Command {
			return amqp.Command{Method: amqp.BasicNack, Number: uint64(m.Last), Flags: amqp.Multiple | amqp.Requeue}
		},
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.Result = lock.Result{Outcome: lock.Failed, Reason: lock.Busy}
			p.changed(m)
		},
	},
	Settling: {
		command: bare(amqp.TxCommit),
		decide:  func(p *Protocol, m *Machine, _ amqp.Reply) { p.administered(m) },
	},
	Deleting: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			cmd := amqp.Command{Method: amqp.QueueDelete, Queue: p.Layout.Lock}
			if p.Kind != lock.Semaphore && p.Settings.Destroy == IfUnused {
				cmd.Flags = amqp.IfUnused
			}
			return cmd
		},
		decide:  func(p *Protocol, m *Machine, _ amqp.Reply) { p.administered(m) },
		refused: inUse(amqp.PreconditionFailed),
	},
	Counting: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			cmd := amqp.Command{Method: amqp.QueueDeclare, Queue: p.Layout.Lock, Flags: amqp.Passive}
			if p.Kind == lock.Semaphore && p.Settings.Admin == Accounted {
				cmd.Queue = p.Layout.Account
			}
			return cmd
		},
		decide: func(p *Protocol, m *Machine, r amqp.Reply) {
			slots := uint8(1)
			if p.Kind == lock.Semaphore {
				slots = uint8(r.Messages)
			}
			p.finish(m, lock.Result{Outcome: lock.Done, Slots: slots})
		},
		refused: gone(func(p *Protocol, m *Machine) { p.finish(m, lock.Result{Outcome: lock.Done}) }),
	},
	Polling: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			return amqp.Command{Method: amqp.QueueDeclare, Queue: p.Layout.Lock, Flags: amqp.Passive}
		},
		decide: func(p *Protocol, m *Machine, r amqp.Reply) {
			if r.Consumers == 0 {
				p.left(m)
				return
			}
			if m.Tries++; int(m.Tries) > p.Settings.Polls {
				p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp, Slot: m.Arg})
			}
		},
		refused: gone((*Protocol).left),
	},
}

// left ends a wait with success: the lock has no holder.
func (p *Protocol) left(m *Machine) { p.finish(m, lock.Result{Outcome: lock.Done, Slot: m.Arg}) }

// account is the command that declares the account, the queue with one message for each slot.
func (p *Protocol) account() amqp.Command {
	cmd := p.declaring()
	cmd.Queue = p.Layout.Account
	return cmd
}

// inUse returns a handler of channel errors. The handler reports whether the code is refusal, which means that another
// client uses the resource. If so, the client repeats the phase on a new channel, or gives up after AdminTries further
// attempts.
func inUse(refusal amqp.Code) func(*Protocol, *Machine, amqp.Code) bool {
	return func(p *Protocol, m *Machine, code amqp.Code) bool {
		if code != refusal {
			return false
		}
		if p.busy(m) {
			p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Busy})
		} else {
			p.repair(m, m.Phase)
		}
		return true
	}
}

// busy counts a failed attempt at a resource that another client uses. It reports whether the client has to give up.
func (p *Protocol) busy(m *Machine) bool {
	m.Tries++
	return int(m.Tries) > p.Settings.AdminTries
}

// made continues a create, add, remove or destroy after the lock's queue was declared.
func made(p *Protocol, m *Machine, r amqp.Reply) {
	switch {
	case p.Kind != lock.Semaphore:
		p.administered(m)
	case p.Settings.Admin == Accounted:
		p.enter(m, Accounting)
	default: // r.Messages counts only the free tokens, not those that clients hold
		m.Top = uint8(r.Messages)
		p.change(m)
	}
}

// change begins to add or remove tokens. Without an account it is unknown whether there are enough tokens to remove.
func (p *Protocol) change(m *Machine) {
	known := p.Settings.Admin == Accounted
	switch m.Op {
	case lock.Create:
		m.Want = m.Arg - min(m.Arg, m.Top)
	case lock.Destroy:
		m.Want = m.Top
	default:
		if m.Want = m.Arg; m.Op == lock.Remove && known {
			m.Want = min(m.Arg, m.Top)
		}
	}
	switch {
	case m.Want == 0:
		p.administered(m)
	case m.Op == lock.Create || m.Op == lock.Add:
		p.enter(m, Growing)
	default:
		p.enter(m, Collecting)
	}
}

// grown continues after one token was published: with the next token, or with the end.
func (p *Protocol) grown(m *Machine) {
	if m.Count++; m.Count < m.Want {
		p.enter(m, Growing)
		return
	}
	p.changed(m)
}

// collected handles the reply to a basic.get that takes a token for removal. The client keeps the taken tokens
// unacknowledged until it has all of them.
func collected(p *Protocol, m *Machine, r amqp.Reply) {
	switch {
	case r.Kind != amqp.GetEmpty:
		m.Last = uint16(r.Number)
		if m.Count++; m.Count < m.Want {
			return
		}
		if p.Settings.Admin == Accounted {
			p.enter(m, Tallying)
			return
		}
		p.enter(m, AckingAll)
	case !p.busy(m):
	case m.Count > 0:
		p.enter(m, NackingAll)
	default:
		p.finish(m, lock.Result{Outcome: lock.Failed, Reason: lock.Busy})
	}
}

// changed continues after the last change to the queues: a transaction is committed, then the operation ends.
func (p *Protocol) changed(m *Machine) {
	if m.Mode == transacting {
		p.enter(m, Settling)
		return
	}
	p.administered(m)
}

// administered ends an administrative operation. Its result is ok, unless another result was set before.
func (p *Protocol) administered(m *Machine) {
	if m.Result.Outcome == lock.Pending {
		m.Result = lock.Result{Outcome: lock.Done}
	}
	p.finish(m, m.Result)
}
