package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// Relinquishing (guidelines, "Relinquishing a Lock"): the client deletes B[L], the queue of its hold, or closes its
// connection. The guidelines also offer closing the channel. This releases nothing on RabbitMQ (FACTS B10), and exists
// as an option to show that.

var releaseSteps = map[Phase]step{
	DeletingB: {lead: 1, command: deleteHolder, decide: released, refused: locked},
	ClosingConnection: {
		lead:    1,
		command: func(*Protocol, *Machine, int) amqp.Command { return amqp.Command{Method: amqp.ConnectionClose} },
		decide:  func(p *Protocol, m *Machine) { p.reopen(m, Down) },
	},
	ClosingChannel: {
		lead:    1,
		command: func(*Protocol, *Machine, int) amqp.Command { return amqp.Command{Method: amqp.ChannelClose} },
		decide:  func(p *Protocol, m *Machine) { p.reopen(m, ChannelDown) },
	},
}

// relinquishing is the phase in which a release gives the slot back, depending on the option Release.
func (p *Protocol) relinquishing() Phase {
	switch p.Options.Release {
	case CloseConnection:
		return ClosingConnection
	case CloseChannel:
		return ClosingChannel
	}
	return DeletingB
}

func released(p *Protocol, m *Machine) { p.finish(m, lock.Result{Outcome: lock.Done, Slot: m.Slot}) }

// reopen opens the connection or channel that a release has closed, so that the next acquire finds it open.
func (p *Protocol) reopen(m *Machine, link Link) {
	m.Link, m.Result = link, lock.Result{Outcome: lock.Done, Slot: m.Slot}
	p.repair(m, NoPhase, false)
}
