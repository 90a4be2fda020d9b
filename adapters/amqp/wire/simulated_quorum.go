package wire

import (
	"maps"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// beyond returns an error if a queue's arguments need a feature that the model lacks.
func beyond(arguments frame.Table, kind string) *refusal {
	quorum := kind == "quorum"
	for _, a := range [...]struct {
		name   string
		beyond bool
		fine   func(value any) bool // reports whether the model supports a value; nil means that it supports none
	}{
		{"x-queue-type", true, func(v any) bool { return v != "stream" }},
		{"x-max-length-bytes", true, nil},
		{"x-expires", quorum, nil},
		{"x-overflow", quorum, func(v any) bool { return v == "drop-head" }},
		{"x-dead-letter-strategy", quorum, func(v any) bool { return v == "at-most-once" }},
		{"x-delivery-limit", quorum, func(v any) bool { _, number := integer(v); return number }},
	} {
		v, given := arguments.Lookup(a.name)
		switch {
		case !given || !a.beyond || a.fine != nil && a.fine(v):
		case quorum:
			return unsupported("quorum queues with the argument '%s' of that value", a.name)
		default:
			return unsupported("queue.declare with the argument '%s'", a.name)
		}
	}
	return nil
}

// noQuorum is the error for a quorum queue whose properties are invalid or unsupported; nil if it can be declared. Its
// arguments are checked elsewhere.
func (x *simSession) noQuorum(m *frame.QueueDeclare, name string) *refusal {
	if withoutEnds(m.Queue) == "" {
		return refusef(frame.PreconditionFailed, "Cannot declare a server-named queue for type rabbit_quorum_queue")
	}
	for _, p := range [...]struct {
		wrong bool
		name  string
	}{{m.AutoDelete, "auto-delete"}, {m.Exclusive, "exclusive-owner"}, {!m.Durable, "non-durable"}} {
		if p.wrong {
			return refusef(frame.PreconditionFailed, "invalid property '%s' for queue '%s' in vhost '/'", p.name, name)
		}
	}
	if x.s.opts.Broker.Four {
		return unsupported("quorum queues as RabbitMQ %s has them: those of 3.10 it has", x.s.opts.Version)
	}
	return nil
}

// isQuorum reports whether a quorum queue with the given number exists.
func (x *simSession) isQuorum(queue amqp.Queue) bool {
	_, args := x.host.broker.Declared(queue)
	return args.Has&amqp.Quorum != 0
}

// counted is the message with the header x-delivery-count, which counts its returns to the queue. RabbitMQ sorts the
// headers when it adds this one.
func counted(says *stored, deliveries uint16) *stored {
	content := *says.content
	values := maps.Collect(content.Properties.Headers.All())
	values["x-delivery-count"] = int64(deliveries)
	content.Properties.Headers = sorted(values)
	content.Properties.Has |= frame.HasHeaders
	return &stored{content: &content, exchange: says.exchange, key: says.key}
}
