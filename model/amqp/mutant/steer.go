package mutant

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// What bugs do to a machine.

// enter has it go on with a phase.
func enter(m *lock.Machine, phase lock.Phase) {
	m.Phase, m.Answered, m.Seen, m.Result = phase, 0, 0, lock.Result{}
}

// redial has it open a new connection first.
func redial(m *lock.Machine, then lock.Phase) {
	enter(m, lock.Dialing)
	m.Link, m.Then, m.Decided = lock.Down, then, false
}

// rechannel has it open another channel first, and leave the one that it had open.
func rechannel(m *lock.Machine, then lock.Phase) {
	enter(m, lock.Opening)
	m.Link, m.Then, m.Decided = lock.ChannelDown, then, false
	m.Channel++
}

// end has its operation be over.
func end(m *lock.Machine, r lock.Result) {
	enter(m, lock.NoPhase)
	m.Result = r
}

// believe has its operation be over, with the slot at hand held.
func believe(m *lock.Machine) {
	m.Held = m.Slot
	end(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
}

// What bugs look for.

// beginning reports whether an operation that needs no new connection is at its first phase.
func beginning(m *lock.Machine, op lock.Op) bool { return m.Op == op && m.Link == lock.Up }

// broke reports whether an operation ended for want of a connection.
func broke(m *lock.Machine, op lock.Op) bool {
	return m.Op == op && m.Result.Reason == lock.Disconnected
}

// claims reports whether a command claims a slot, or the true mutex.
func claims(m *lock.Machine, c *amqp.Command) bool {
	return m.Phase == lock.Claiming && c.Method == amqp.QueueDeclare
}

// probes reports whether a command asks for a queue's existence in a phase.
func probes(m *lock.Machine, phase lock.Phase, c *amqp.Command) bool {
	return m.Phase == phase && c.Method == amqp.BasicPublish
}

// isSlot reports whether a queue is one of the lock's A queues.
func isSlot(p *lock.Protocol, q amqp.Queue) bool { return slices.Contains(p.Layout.A, q) }
