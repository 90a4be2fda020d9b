package foreign

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
)

// label is what of a step decides which others it depends on.
type label struct {
	client         uint8
	method         amqp.Method
	passive        bool
	queue          amqp.Queue
	reply          amqp.ReplyKind
	begins, ends   bool // an operation
	closes, opaque bool // a connection; what the model does not have
}

func labelOf(t *scenario.Taken, events []spec.Event) label {
	c := &t.Command
	l := label{
		client: t.Action.Client, method: c.Method, passive: c.Flags.Has(amqp.Passive), queue: c.Queue, reply: t.Reply.Kind,
		closes: c.Method == amqp.ConnectionClose || t.Reply.Kind == amqp.ConnectionClosed, opaque: t.Other != "",
	}
	for _, e := range events[t.First : t.First+t.Events] {
		l.begins = l.begins || e.Type == spec.Invoke
		l.ends = l.ends || e.Type != spec.Invoke && e.Process != spec.Nemesis
		l.closes = l.closes || e.Process == spec.Nemesis
	}
	return l
}

// depend reports whether the order of two steps makes a difference.
func depend(a, b *label) bool {
	switch {
	case a.client == b.client, a.closes, b.closes, a.opaque, b.opaque, a.begins && b.ends, a.ends && b.begins:
		return true
	case a.queue != b.queue || a.queue == 0:
		return false
	}
	return !(a.reads() && b.reads() && a.method == b.method)
}

// reads reports whether the step leaves the queue as it is, but for messages of which nobody takes notice
// that does the same.
func (l *label) reads() bool {
	return l.method == amqp.BasicPublish || l.method == amqp.QueueDeclare && l.passive
}
