package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// MaxRepairs bounds how often one operation mends a channel that broke for no reason of its own.
const MaxRepairs = 2

var linkSteps = map[Phase]step{
	Dialing: {
		lead: 1,
		command: func(*Protocol, *Machine, int) amqp.Command {
			return amqp.Command{Method: amqp.ConnectionOpen}
		},
		decide: func(p *Protocol, m *Machine) {
			m.Link, m.Phase, m.Answered = ChannelDown, Opening, 0
		},
	},
	Opening: {
		lead: 2, // see [Protocol.lead]
		command: func(p *Protocol, _ *Machine, i int) amqp.Command {
			switch {
			case i == 0:
				return amqp.Command{Method: amqp.ChannelOpen}
			case p.Options.Confirm == Transactions:
				return amqp.Command{Method: amqp.TxSelect}
			}
			return amqp.Command{Method: amqp.ConfirmSelect}
		},
		decide: (*Protocol).repaired,
	},
}

// repair opens the closed part of the link, connection and channel or the channel alone, and continues with a phase:
// from its beginning, or with its decision only. NoPhase ends the operation with its present result. The observations
// of the current batch are kept.
func (p *Protocol) repair(m *Machine, then Phase, decided bool) {
	m.Then, m.Decided, m.Answered = then, decided, 0
	m.Phase = Opening
	if m.Link == Down {
		m.Phase = Dialing
	}
}

// repaired goes on where the link broke.
func (p *Protocol) repaired(m *Machine) {
	m.Link = Up
	then, decided := m.Then, m.Decided
	m.Then, m.Decided = NoPhase, false
	switch {
	case then == NoPhase:
		p.finish(m, m.Result)
	case decided:
		steps[then].decide(p, m)
	default:
		p.enter(m, then)
	}
}

// channelClosed handles a channel that the broker closed: as an answer where the phase has one to
// expect, as an accident elsewhere.
func (p *Protocol) channelClosed(m *Machine, code amqp.Code) {
	s := &steps[m.Phase]
	if s.refused != nil && s.refused(p, m, code) {
		p.repair(m, m.Phase, true)
		return
	}
	m.Repairs++
	switch {
	case m.Repairs > MaxRepairs:
		p.disconnected(m, amqp.Reply{Kind: amqp.ChannelClosed})
	case m.mending():
		p.repair(m, m.Then, m.Decided)
	default:
		p.repair(m, m.Phase, false)
	}
}

// disconnected ends the operation: the connection is gone, or is given up after a timeout. The client no longer
// believes in its holds on it.
func (p *Protocol) disconnected(m *Machine, r amqp.Reply) {
	at := m.Phase
	if m.mending() {
		at = m.Then
	}
	m.Link, m.Held, m.Mutex = Down, 0, false
	p.finish(m, WithoutConnection(m.Op, m.Result, m.Slot, r.Kind, harmless[at]))
}

// WithoutConnection is the result of an operation whose connection is gone, or is given up after a timeout; how says
// which. A finished operation keeps its result: only the return of the administration mutex, which goes with the
// connection, or a repair of the link was left. harmless says that nothing had changed.
func WithoutConnection(op lock.Op, result lock.Result, slot uint8, how amqp.ReplyKind, harmless bool) lock.Result {
	reason := lock.Disconnected
	if how == amqp.Lost {
		reason = lock.TimedOut
	}
	switch {
	case op == lock.Verify:
		return lock.Result{Outcome: lock.Done, Reason: reason, Slot: slot}
	case result.Outcome != lock.Pending:
		return result
	case harmless:
		return lock.Result{Outcome: lock.Failed, Reason: reason}
	case op.Administrative():
		return lock.Result{Outcome: lock.Unknown, Reason: reason}
	}
	return lock.Result{Outcome: lock.Unknown, Reason: reason, Slot: slot}
}

// mending reports whether the machine is opening its link again.
func (m *Machine) mending() bool { return m.Phase == Dialing || m.Phase == Opening }

// harmless are the phases before which an operation has changed nothing.
var harmless = [Phases]bool{
	NoPhase: true, Scanning: true, ScanningA: true, ScanningB: true, ChoosingSlot: true, ChoosingJitter: true,
	MutexProbing: true, MutexClaiming: true, Measuring: true, Polling: true,
}
