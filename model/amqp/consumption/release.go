package consumption

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Releasing. To release a mutex, the client cancels its consumer or closes its channel (FACTS C6; exclusive queues
// differ: FACTS B10). To return a token, it sends basic.nack, which is one step. To acknowledge the token and publish a
// new one are two steps, and the client may die between them, unless both are in a transaction.

var releaseSteps = map[Phase]step{
	Leaving: {
		command: cancelling,
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.Consuming = false
			released(p, m)
		},
	},
	Closing: {
		command: bare(amqp.ChannelClose),
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.lose(amqplock.ChannelDown)
			released(p, m)
		},
	},
	Nacking: {
		command: func(_ *Protocol, m *Machine) amqp.Command {
			return amqp.Command{Method: amqp.BasicNack, Number: uint64(m.Tag), Flags: amqp.Requeue}
		},
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) { p.settled(m) },
	},
	Acking: {
		command: func(_ *Protocol, m *Machine) amqp.Command {
			return amqp.Command{Method: amqp.BasicAck, Number: uint64(m.Tag)}
		},
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			m.Tag = 0
			if p.Settings.Release == AckPublish {
				p.enter(m, Publishing)
				return
			}
			p.settled(m)
		},
	},
	Publishing: {
		again:   true,
		command: func(p *Protocol, _ *Machine) amqp.Command { return p.token(p.Layout.Lock) },
		decide: func(p *Protocol, m *Machine, _ amqp.Reply) {
			if m.Tag > 0 {
				p.enter(m, Acking)
				return
			}
			p.settled(m)
		},
	},
	Committing: {
		command: bare(amqp.TxCommit),
		decide:  func(p *Protocol, m *Machine, _ amqp.Reply) { released(p, m) },
	},
}

// releasing is the phase with which a release begins, depending on the option Release.
func (p *Protocol) releasing() Phase {
	switch {
	case p.Settings.Release == CloseChannel:
		return Closing
	case p.Kind != lock.Semaphore:
		return Leaving
	case p.Settings.Release == AckPublish:
		return Acking
	case p.Settings.Release == PublishAck, p.Settings.Release == Transaction:
		return Publishing
	}
	return Nacking
}

// settled continues a release after its last change: a transaction is committed, then the release ends.
func (p *Protocol) settled(m *Machine) {
	if m.Mode == transacting {
		p.enter(m, Committing)
		return
	}
	released(p, m)
}

func released(p *Protocol, m *Machine) {
	m.Tag = 0
	p.finish(m, lock.Result{Outcome: lock.Done, Slot: m.Slot})
}
