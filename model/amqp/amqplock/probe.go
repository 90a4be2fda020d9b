package amqplock

import "github.com/lockproof/lockproof/model/amqp"

// A probe asks whether a queue exists (guidelines, "Determining Queue Existence"). A publish is a transient mandatory
// message. It also finds other clients' exclusive queues, and never breaks the channel (FACTS B1, B2 and B24). A
// passive declare of a missing queue, or of another client's exclusive queue, breaks the channel (FACTS B3 and B8).

// probeWidth is the number of commands of a probe: in a transaction the return arrives with the commit (FACTS B18).
func (p *Protocol) probeWidth() int {
	if p.Options.Existence == ByPublish && p.Options.Confirm == Transactions {
		return 2
	}
	return 1
}

// part says which probe the i-th command belongs to, and which part of that probe it is.
func (p *Protocol) part(i int) (probe, part int) {
	if p.probeWidth() == 1 {
		return i, 0
	}
	return i / 2, i % 2
}

// pipeline is the number of slots that a batch probes; with 0 the client waits for every reply. A passive declare may
// break the channel, and commands written after it would be lost.
func (p *Protocol) pipeline() int {
	if p.Options.Existence == ByPassive {
		return 0
	}
	return p.Options.Pipeline
}

// probing makes cmd the i-th command of a probe.
func (p *Protocol) probing(q amqp.Queue, i int, cmd *amqp.Command) {
	switch {
	case p.Options.Existence == ByPassive:
		cmd.Method, cmd.Queue, cmd.Flags = amqp.QueueDeclare, q, amqp.Passive
	case i == 1:
		cmd.Method = amqp.TxCommit
	default:
		cmd.Method, cmd.Queue, cmd.Flags = amqp.BasicPublish, q, amqp.Mandatory
	}
}

// found reads the last reply of a probe. If queues reject publishes, a nack means a full queue (FACTS B15); otherwise
// it means a queue whose process has died, which counts as missing.
func (p *Protocol) found(r amqp.Reply) bool {
	if r.Kind == amqp.Nack {
		return p.Options.Arguments.Overflow == amqp.RejectPublish
	}
	return r.Returned == 0
}

// probed accepts the channel error of a passive declare as an answer.
func probed(p *Protocol, m *Machine, code amqp.Code) bool {
	if p.Options.Existence != ByPassive {
		return false
	}
	if code == amqp.ResourceLocked {
		m.Seen |= 1 << m.Answered
	}
	return code == amqp.ResourceLocked || code == amqp.NotFound
}
