package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// MaxRepairs is the largest number of times that one operation reopens a channel that broke although no command was
// wrong.
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
		lead: 2, // 1 without confirms: see [Protocol.lead]
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

// repair opens the closed part of the link (connection and channel, or only the channel). Then the machine continues
// with the phase then; NoPhase ends the operation with its present result. If decided is true, the machine already has
// all replies of that phase, and only calls its function decide. The results of the current batch are not cleared.
func (p *Protocol) repair(m *Machine, then Phase, decided bool) {
	m.Then, m.Decided, m.Answered = then, decided, 0
	m.Phase = Opening
	if m.Link == Down {
		m.Phase = Dialing
	}
}

// repaired continues after the link was reopened: with the phase in Then, or with the end of the operation.
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

// channelClosed handles a channel that the broker closed. If the phase expects the code, this is an answer; otherwise
// it is a fault, and the channel is reopened.
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

// disconnected ends the operation: the connection was lost, or the client gave it up after a timeout. The client no
// longer believes that it holds what it held on that connection.
func (p *Protocol) disconnected(m *Machine, r amqp.Reply) {
	at := m.Phase
	if m.mending() {
		at = m.Then
	}
	m.Link, m.Held, m.Mutex = Down, 0, false
	p.finish(m, WithoutConnection(m.Op, m.Result, m.Slot, r.Kind, harmless[at]))
}

// WithoutConnection is the result of an operation whose connection was lost or, if how is Lost, given up after a
// timeout. If result is known already, the operation keeps it: only the return of the administration mutex or a repair
// of the link was left to do. harmless says that the operation had changed nothing.
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

// mending reports whether the machine is opening a connection or a channel.
func (m *Machine) mending() bool { return m.Phase == Dialing || m.Phase == Opening }

// harmless marks phases: if an operation ends in such a phase because its connection is lost, it has changed nothing on
// the broker.
var harmless = [Phases]bool{
	NoPhase: true, Scanning: true, ScanningA: true, ScanningB: true, ChoosingSlot: true, ChoosingJitter: true,
	MutexProbing: true, MutexClaiming: true, Measuring: true, Polling: true,
}
