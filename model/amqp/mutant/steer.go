package mutant

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Changes of a machine by bugs.

// enter has it go on with a phase.
func enter(m *amqplock.Machine, phase amqplock.Phase) {
	m.Phase, m.Answered, m.Seen, m.Result = phase, 0, 0, lock.Result{}
}

// redial has it open a new connection first.
func redial(m *amqplock.Machine, then amqplock.Phase) {
	enter(m, amqplock.Dialing)
	m.Link, m.Then, m.Decided = amqplock.Down, then, false
}

// rechannel has it open another channel first, and leave the one that it had open.
func rechannel(m *amqplock.Machine, then amqplock.Phase) {
	enter(m, amqplock.Opening)
	m.Link, m.Then, m.Decided = amqplock.ChannelDown, then, false
	m.Channel++
}

// end has its operation be over.
func end(m *amqplock.Machine, r lock.Result) {
	enter(m, amqplock.NoPhase)
	m.Result = r
}

// believe has its operation be over, with the slot at hand held.
func believe(m *amqplock.Machine) {
	m.Held = m.Slot
	end(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
}

// Conditions of bugs.

// beginning reports whether an operation that needs no new connection is at its first phase.
func beginning(m *amqplock.Machine, op lock.Op) bool { return m.Op == op && m.Link == amqplock.Up }

// broke reports whether an operation ended for want of a connection.
func broke(m *amqplock.Machine, op lock.Op) bool {
	return m.Op == op && m.Result.Reason == lock.Disconnected
}

// claims reports whether a command claims a slot, or the true mutex.
func claims(m *amqplock.Machine, c *amqp.Command) bool {
	return m.Phase == amqplock.Claiming && c.Method == amqp.QueueDeclare
}

// probes reports whether a command asks for a queue's existence in a phase.
func probes(m *amqplock.Machine, phase amqplock.Phase, c *amqp.Command) bool {
	return m.Phase == phase && c.Method == amqp.BasicPublish
}

// isSlot reports whether a queue is one of the lock's A queues.
func isSlot(p *amqplock.Protocol, q amqp.Queue) bool { return slices.Contains(p.Layout.A, q) }
