package mutant

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Changes of a machine by bugs.

// enter makes the machine continue with a phase.
func enter(m *amqplock.Machine, phase amqplock.Phase) {
	m.Phase, m.Answered, m.Seen, m.Result = phase, 0, 0, lock.Result{}
}

// redial makes the machine open a new connection first.
func redial(m *amqplock.Machine, then amqplock.Phase) {
	enter(m, amqplock.Dialing)
	m.Link, m.Then, m.Decided = amqplock.Down, then, false
}

// rechannel makes the machine open another channel first, and leave the old one open.
func rechannel(m *amqplock.Machine, then amqplock.Phase) {
	enter(m, amqplock.Opening)
	m.Link, m.Then, m.Decided = amqplock.ChannelDown, then, false
	m.Channel++
}

// end ends the machine's operation.
func end(m *amqplock.Machine, r lock.Result) {
	enter(m, amqplock.NoPhase)
	m.Result = r
}

// believe ends the machine's operation with the belief that it holds the current slot.
func believe(m *amqplock.Machine) {
	m.Held = m.Slot
	end(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
}

// Conditions of bugs.

// beginning reports whether an operation that needs no new connection is in its first phase.
func beginning(m *amqplock.Machine, op lock.Op) bool { return m.Op == op && m.Link == amqplock.Up }

// broke reports whether an operation ended because its connection was lost.
func broke(m *amqplock.Machine, op lock.Op) bool {
	return m.Op == op && m.Result.Reason == lock.Disconnected
}

// claims reports whether a command claims a slot, or the true mutex.
func claims(m *amqplock.Machine, c *amqp.Command) bool {
	return m.Phase == amqplock.Claiming && c.Method == amqp.QueueDeclare
}

// probes reports whether a command probes a queue in the given phase.
func probes(m *amqplock.Machine, phase amqplock.Phase, c *amqp.Command) bool {
	return m.Phase == phase && c.Method == amqp.BasicPublish
}

// isSlot reports whether a queue is one of the lock's A queues.
func isSlot(p *amqplock.Protocol, q amqp.Queue) bool { return slices.Contains(p.Layout.A, q) }
