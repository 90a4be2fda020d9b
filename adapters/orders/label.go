package orders

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/scenario"
)

// label describes a step as far as is needed to decide which other steps depend on it.
type label struct {
	client         uint8
	method         amqp.Method
	passive        bool
	queue          amqp.Queue
	reply          amqp.ReplyKind
	code           amqp.Code
	begins, ends   bool // the step begins or ends an operation
	administers    bool // the step is about a queue, in an administrative operation
	closes, opaque bool // closes: the step ends a connection; opaque: the step's effect is unknown
	rests          bool // the label is not of a step, but of a client's choice to take none
}

// labelOf returns the label of the i-th step of an execution with the given number of clients. ordered means that the
// order of messages matters.
func labelOf(steps []scenario.TraceStep, i int, events []history.Event, clients int, ordered bool) label {
	t := &steps[i]
	sent := amqp.SentIn(t.Payload)
	c := &sent.Command
	l := label{
		client: t.Action.Client, method: c.Method, passive: c.Flags.Has(amqp.Passive), queue: c.Queue, reply: sent.Reply.Kind, code: sent.Reply.Code,
		closes: t.Exchange.Ended, opaque: c.Method == amqp.NoMethod && t.Command != "" || opaque(c, ordered),
	}
	if sent.Reply.Kind == amqp.ChannelClosed && sent.Reply.Code == amqp.InternalError { // a fault closed the channel
		l.opaque = true
	}
	for _, e := range events[t.First : t.First+t.Events] {
		l.begins = l.begins || e.Type == history.Invoke
		l.ends = l.ends || e.Type != history.Invoke && e.Process != history.Nemesis
		l.closes = l.closes || e.Process == history.Nemesis
	}
	switch t.Action.Kind {
	case scenario.Step, scenario.Advance, scenario.ChannelError:
	default:
		l.closes = true
	}
	for at := t.First + t.Events - 1; at >= 0; at-- {
		if e := &events[at]; e.Type == history.Invoke && history.ClientOf(e.Process, clients) == int(l.client) {
			l.administers = c.Queue != 0 && e.F.Op().Administrative()
			break
		}
	}
	return l
}

// opaque reports whether a command may have effects that the command itself does not show. For example, tx.commit has
// the effects of earlier commands, and a message may be routed to other queues than the one named. If ordered, every
// command that sends messages, returns them, or takes a queue from its consumer is opaque, as another client may
// react to it.
func opaque(c *amqp.Command, ordered bool) bool {
	switch c.Method {
	case amqp.NoMethod, amqp.ConnectionOpen, amqp.ChannelOpen, amqp.ConfirmSelect, amqp.TxSelect:
		return false
	case amqp.ConnectionClose, amqp.ChannelClose:
		return ordered
	case amqp.QueueDeclare:
		return c.Queue == 0
	case amqp.BasicPublish, amqp.QueueDelete:
		return ordered || c.Queue == 0
	}
	return true
}

// depend reports whether the order of two steps matters: to the broker, to clients, or to a property. A property
// depends on the broker's state while an operation is under way, and on the order in which clients receive results.
func depend(a, b *label) bool {
	switch {
	case a.rests || b.rests:
		return a.client == b.client
	case a.client == b.client, a.closes, b.closes, a.opaque, b.opaque:
		return true
	case a.changesTruth() && b.sees(), a.sees() && b.changesTruth(), a.administers && b.administers:
		return true
	case a.queue != b.queue || a.queue == 0:
		return false
	}
	return !(a.reads() && b.reads() && a.method == b.method)
}

// reads reports whether the step publishes to its queue, or declares it passively. The order of two publishes does not
// matter, and neither does that of two passive declarations.
func (l *label) reads() bool {
	return l.method == amqp.BasicPublish || l.method == amqp.QueueDeclare && l.passive
}

// changesTruth reports whether the step changes the state by which all clients are judged: the queues and their
// owners, or which slots clients believe to hold.
func (l *label) changesTruth() bool {
	writes := l.method == amqp.QueueDeclare && !l.passive || l.method == amqp.QueueDelete
	return l.ends || writes && l.reply == amqp.OK
}

// sees reports whether a property looks at the state at this step to judge a client.
func (l *label) sees() bool { return l.begins || l.changesTruth() }
