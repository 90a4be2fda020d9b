package amqplock

import "github.com/lockproof/lockproof/model/amqp"

// A probe asks whether a queue exists (guidelines, "Determining Queue Existence"). With existence=publish it is a
// transient mandatory message, which also finds other clients' exclusive queues and never breaks the channel (FACTS B1,
// B2 and B24). With existence=passive it is a passive declare, which breaks the channel if the queue is missing or is
// another client's exclusive queue (FACTS B3 and B8).

// probeWidth is the number of commands of one probe: 2 in transactions, where the return arrives with the commit (FACTS
// B18), otherwise 1.
func (p *Protocol) probeWidth() int {
	if p.Options.Existence == ByPublish && p.Options.Confirm == Transactions {
		return 2
	}
	return 1
}

// part converts i, the index of a command among the batch's probes, to the index of the probe and of the command in
// that probe.
func (p *Protocol) part(i int) (probe, part int) {
	if p.probeWidth() == 1 {
		return i, 0
	}
	return i / 2, i % 2
}

// pipeline is the number of slots that a batch probes; 0 means that the client waits for every reply. It is 0 for
// passive declares: if one breaks the channel, the commands after it are lost.
func (p *Protocol) pipeline() int {
	if p.Options.Existence == ByPassive {
		return 0
	}
	return p.Options.Pipeline
}

// probing sets cmd to the i-th command of a probe of queue q.
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

// found reports whether the last reply of a probe means that the queue exists. A nack means a full queue if queues
// reject publishes (FACTS B15). Otherwise a nack means that the queue's process has died, and the queue counts as
// missing.
func (p *Protocol) found(r amqp.Reply) bool {
	if r.Kind == amqp.Nack {
		return p.Options.Arguments.Overflow == amqp.RejectPublish
	}
	return r.Returned == 0
}

// probed reports whether a channel error is the answer to a passive declare. Code 404 means that the queue is missing.
// Code 405 means that it exists, which probed notes in Seen.
func probed(p *Protocol, m *Machine, code amqp.Code) bool {
	if p.Options.Existence != ByPassive {
		return false
	}
	if code == amqp.ResourceLocked {
		m.Seen |= 1 << m.Answered
	}
	return code == amqp.ResourceLocked || code == amqp.NotFound
}
