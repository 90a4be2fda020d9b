package orders

import (
	"sync/atomic"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/scenario"
)

// unsupported records actions of clients that [depend] does not model well enough.
type unsupported struct {
	expires  atomic.Bool // a queue or a message expires: when that happens depends on every step
	ordered  bool        // clients receive messages, or a queue refuses some: the order of messages matters
	answered map[amqp.Queue]amqp.ReplyKind
}

// OnCommand records a command that passes while the gate is open. Such commands come from the setup client. payload
// is the command in the form for traces.
func (e *Explorer) OnCommand(payload any) {
	sent := amqp.SentIn(payload)
	e.unsupported.timed(&sent.Command)
}

func (b *unsupported) timed(c *amqp.Command) {
	if c.Args.Has&(amqp.HasExpires|amqp.HasMessageTTL) != 0 || c.Flags.Has(amqp.Expiring) {
		b.expires.Store(true)
	}
}

// look records what the clients do in an execution.
func (b *unsupported) look(steps []scenario.TraceStep) {
	if b.answered == nil {
		b.answered = make(map[amqp.Queue]amqp.ReplyKind)
	}
	clear(b.answered)
	for i := range steps {
		sent := amqp.SentIn(steps[i].Payload)
		c, reply := &sent.Command, sent.Reply.Kind
		b.timed(c)
		switch c.Method {
		case amqp.BasicGet, amqp.BasicConsume:
			b.ordered = true
		case amqp.BasicPublish:
			if reply != amqp.Ack && reply != amqp.Nack {
				continue
			}
			before, ok := b.answered[c.Queue]
			b.ordered = b.ordered || ok && before != reply
			b.answered[c.Queue] = reply
		}
	}
}

// why returns the reason why the reduction is not sound for these clients; "" if it is.
func (b *unsupported) why() string {
	if b.expires.Load() {
		return "a queue or a message expires, and when that is depends on every step"
	}
	return ""
}
