package consumption

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

var linkSteps = map[Phase]step{
	Dialing: {
		command: bare(amqp.ConnectionOpen),
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.Link, m.Phase = amqplock.ChannelDown, Opening
		},
	},
	Opening: {
		command: bare(amqp.ChannelOpen),
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.Link = amqplock.Up
			if p.prefetches() {
				m.Phase = Limiting
				return
			}
			p.repaired(m)
		},
	},
	Limiting: {
		command: func(p *Protocol, _ *Machine) amqp.Command {
			return amqp.Command{Method: amqp.BasicQos, Number: uint64(p.Settings.Prefetch)}
		},
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) { p.repaired(m) },
	},
}

// prefetches reports whether a new channel gets a prefetch count (basic.qos).
func (p *Protocol) prefetches() bool {
	return p.Kind == lock.Semaphore && p.Settings.Acquire == ByConsume && p.Settings.Prefetch > 0
}

// repair opens the closed part of the link (connection and channel, or only the channel). Then the machine continues
// with the phase then; NoPhase ends the operation with its present result.
func (p *Protocol) repair(m *Machine, then Phase) {
	m.Then, m.Phase = then, Opening
	if m.Link == amqplock.Down {
		m.Phase = Dialing
	}
}

func (p *Protocol) repaired(m *Machine) {
	then := m.Then
	m.Then = NoPhase
	if then == NoPhase {
		p.finish(m, m.Result)
		return
	}
	p.enter(m, then)
}

// lose records that the channel is closed. link says whether the connection is left. The client's tokens, consumer and
// hold ended with the channel.
func (m *Machine) lose(link amqplock.Link) {
	m.Link, m.Mode, m.Held, m.Tag, m.Consuming, m.Spare, m.SpareSlot = link, plain, 0, 0, false, 0, 0
}

// channelClosed handles a channel that the broker closed. If the phase expects the code, this is an answer; otherwise
// it is a fault, and the channel is reopened.
func (p *Protocol) channelClosed(m *Machine, code amqp.Code) {
	s := &steps[m.Phase]
	m.lose(amqplock.ChannelDown)
	if s.refused != nil && s.refused(p, m, code) {
		return
	}
	m.Repairs++
	switch {
	case m.Repairs > amqplock.MaxRepairs:
		p.disconnected(m, amqp.ChannelClosed)
	case m.Result.Outcome != lock.Pending:
		p.repair(m, m.unfinished())
	case m.mending():
		p.repair(m, m.Then)
	case m.Op == lock.Verify:
		p.finish(m, lock.Result{Outcome: lock.Done, Reason: lock.Disconnected, Slot: m.Slot})
	case m.Op == lock.Release && s.again && p.Settings.Release == AckPublish:
		p.repair(m, m.Phase)
	case m.Op == lock.Release: // the hold has ended with the channel
		p.finish(m, lock.Result{Outcome: lock.Done, Slot: m.Slot})
	case s.again && p.Settings.Admin == Tokens:
		p.repair(m, m.Phase)
	default:
		m.Tries = 0
		p.repair(m, p.first(m))
	}
}

// unfinished is the phase that is left when the result is known: to return the administration mutex, or NoPhase.
func (m *Machine) unfinished() Phase {
	if m.Mutex {
		return Unclaiming
	}
	return NoPhase
}

// disconnected ends the operation: the connection was lost, or the client gave it up after a timeout. The client no
// longer believes that it holds what it held on that connection.
func (p *Protocol) disconnected(m *Machine, how amqp.ReplyKind) {
	at := m.Phase
	if m.mending() {
		at = m.Then
	}
	m.lose(amqplock.Down)
	m.Mutex = false
	if at == Publishing && p.Settings.Resend && m.Repairs <= amqplock.MaxRepairs {
		m.Repairs++
		p.repair(m, Publishing)
		return
	}
	m.Result = amqplock.WithoutConnection(m.Op, m.Result, m.Slot, how, steps[at].harmless)
	m.Then = NoPhase
	p.enter(m, NoPhase)
}

// mending reports whether the machine is opening a connection or a channel, or sets the channel's prefetch count.
func (m *Machine) mending() bool {
	return m.Phase == Dialing || m.Phase == Opening || m.Phase == Limiting
}
