package mutant

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Functions with which bugs change a machine.

// enter makes the machine begin a phase.
func enter(m *amqplock.Machine, phase amqplock.Phase) {
	m.Phase, m.Answered, m.Seen, m.Result = phase, 0, 0, lock.Result{}
}

// redial makes the machine open a new connection, and then begin a phase.
func redial(m *amqplock.Machine, then amqplock.Phase) {
	enter(m, amqplock.Dialing)
	m.Link, m.Then, m.Decided = amqplock.Down, then, false
}

// rechannel makes the machine open another channel, and then begin a phase. The old channel stays open.
func rechannel(m *amqplock.Machine, then amqplock.Phase) {
	enter(m, amqplock.Opening)
	m.Link, m.Then, m.Decided = amqplock.ChannelDown, then, false
	m.Channel++
}

// end ends the machine's operation with result r.
func end(m *amqplock.Machine, r lock.Result) {
	enter(m, amqplock.NoPhase)
	m.Result = r
}

// believe ends the machine's acquire as if it had been granted the current slot.
func believe(m *amqplock.Machine) {
	m.Held = m.Slot
	end(m, lock.Result{Outcome: lock.Done, Held: true, Slot: m.Slot})
}

// Conditions under which bugs act.

// beginning reports whether an operation has just begun on an open connection.
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
