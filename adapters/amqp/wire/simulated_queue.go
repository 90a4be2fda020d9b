package wire

import (
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// onQueue handles the methods of class queue.
func (x *simSession) onQueue(ch *simChannel, m frame.Method) *refusal {
	switch m := m.(type) {
	case *frame.QueueDeclare:
		return x.declare(ch, m)
	case *frame.QueueDelete:
		return x.delete(ch, m)
	case *frame.QueuePurge:
		name, err := ch.shortcut(m.Queue)
		if err != nil {
			return err
		}
		r, code := x.apply(ch, amqp.Command{Method: amqp.QueuePurge, Queue: x.host.queues.lookup(name)})
		if code != 0 {
			return aboutQueue(code, name)
		}
		if !m.NoWait {
			x.answer(ch.number, &frame.QueuePurgeOk{MessageCount: r.Messages})
		}
		return nil
	case *frame.QueueBind:
		return x.bind(&bindingOf{ch: ch, method: amqp.QueueBind, ok: &frame.QueueBindOk{}, noWait: m.NoWait, arguments: m.Arguments,
			queue: m.Queue, routing: amqp.Routing{Exchange: m.Exchange, Key: m.RoutingKey}})
	case *frame.QueueUnbind:
		return x.bind(&bindingOf{ch: ch, method: amqp.QueueUnbind, ok: &frame.QueueUnbindOk{}, arguments: m.Arguments,
			queue: m.Queue, routing: amqp.Routing{Exchange: m.Exchange, Key: m.RoutingKey}})
	}
	return unimplemented()
}

// shortcut resolves a queue name: "" means the queue that was declared last on the channel.
func (ch *simChannel) shortcut(name string) (string, *refusal) {
	if name == "" {
		name = ch.queue
	}
	if name == "" {
		return "", refusef(frame.NotFound, "no previously declared queue")
	}
	return name, nil
}

// declare handles queue.declare.
func (x *simSession) declare(ch *simChannel, m *frame.QueueDeclare) *refusal {
	name := withoutEnds(m.Queue)
	if name == "" && !m.Passive {
		name = x.s.generated("amq.gen-")
	}
	existed := x.host.broker.Exists(x.host.queues.lookup(name))
	cmd, err := x.declaration(m, name)
	if err != nil {
		return err
	}
	r, code := x.apply(ch, cmd)
	if code != 0 {
		return x.notDeclared(code, name, cmd.Queue, m)
	}
	if !existed {
		x.host.queues.places[cmd.Queue].declared = m
	}
	ch.queue = name
	if !m.NoWait {
		x.answer(ch.number, &frame.QueueDeclareOk{Queue: name, MessageCount: r.Messages, ConsumerCount: r.Consumers})
	}
	return nil
}

// deadLetterRouting is the exchange and routing key of a queue's dead letters, from its arguments.
func deadLetterRouting(arguments frame.Table) (r amqp.Routing) {
	exchange, _ := arguments.Lookup("x-dead-letter-exchange")
	key, _ := arguments.Lookup("x-dead-letter-routing-key")
	r.Exchange, _ = exchange.(string)
	r.Key, _ = key.(string)
	return r
}

// declaration converts a queue.declare to a command of the model, and checks it against the broker's state.
func (x *simSession) declaration(m *frame.QueueDeclare, name string) (amqp.Command, *refusal) {
	cmd, err := declaration(m, name)
	cmd.Queue = x.host.queues.lookup(name)
	if cmd.Args.Has&amqp.HasDeadLetterExchange != 0 {
		cmd.Route = x.host.queues.route(deadLetterRouting(m.Arguments))
	}
	if withoutEnds(m.Queue) == "" {
		cmd.Flags |= amqp.Generated
	}
	switch {
	case m.Passive:
		return cmd, nil
	case strings.HasPrefix(withoutEnds(m.Queue), "amq."):
		return cmd, refusef(frame.AccessRefused, "queue name '%s' contains reserved prefix 'amq.*'", name)
	case x.host.broker.Exists(cmd.Queue): // the queue exists, so only a differing argument is an error
		if a, _, _ := differingArgument(m.Arguments, x.host.queues.places[cmd.Queue].declared.Arguments, x.s.opts.Broker.Four); a != "" {
			cmd.Args.Has |= otherwise
		}
		return cmd, nil
	}
	if v, given := m.Arguments.Lookup("x-dead-letter-exchange"); given && notText(v) != "" {
		return cmd, refusef(frame.PreconditionFailed, "invalid type '%s' for arg 'x-dead-letter-exchange' in queue '%s' in vhost '/'", typeName(v), name)
	}
	if err != nil {
		return cmd, err
	}
	if cmd.Args.Has&amqp.Quorum != 0 {
		if err := x.noQuorum(m, name); err != nil {
			return cmd, err
		}
	}
	if _, given := m.Arguments.Lookup(ownTimeout); given && x.s.opts.Broker.OwnTimeouts {
		return cmd, unsupported("queue.declare with the argument '%s'", ownTimeout)
	}
	if cmd.Queue = x.host.queues.enter(name); cmd.Queue == 0 {
		return cmd, refusef(frame.ResourceError, "the simulated broker has at most %d queues at once", maxQueues)
	}
	return cmd, nil
}

func (x *simSession) notDeclared(code frame.Code, name string, id amqp.Queue, m *frame.QueueDeclare) *refusal {
	switch code {
	case frame.PreconditionFailed:
		return refusef(code, "%s", inequivalent(name, m, x.host.queues.places[id].declared, x.s.opts.Broker.Four))
	case frame.InternalError:
		return refusef(code, "Feature `transient_nonexcl_queues` is deprecated.")
	}
	return aboutQueue(code, name)
}

// delete handles queue.delete.
func (x *simSession) delete(ch *simChannel, m *frame.QueueDelete) *refusal {
	name, err := ch.shortcut(m.Queue)
	if err != nil {
		return err
	}
	cmd := amqp.Command{Method: amqp.QueueDelete, Queue: x.host.queues.lookup(name)}
	why := "queue '%s' in vhost '/' in use"
	if m.IfUnused {
		cmd.Flags |= amqp.IfUnused
	}
	if m.IfEmpty {
		cmd.Flags |= amqp.IfEmpty
		if x.host.broker.Depth(cmd.Queue) > 0 { // RabbitMQ checks if-empty before if-unused
			why = "queue '%s' in vhost '/' not empty"
		}
	}
	if x.isQuorum(cmd.Queue) {
		why = "cannot delete queue '%s' in vhost '/'. queue.delete operations with " + condition(m) + " flag set are not supported by quorum queues"
	}
	r, code := x.apply(ch, cmd)
	switch {
	case code == frame.PreconditionFailed, code == frame.NotImplemented:
		return refusef(code, why, name)
	case code != 0:
		return aboutQueue(code, name)
	case !m.NoWait:
		x.answer(ch.number, &frame.QueueDeleteOk{MessageCount: r.Messages})
	}
	return nil
}

// condition is the flag that RabbitMQ names when a quorum queue refuses a queue.delete.
func condition(m *frame.QueueDelete) string {
	if m.IfUnused {
		return "if-unused"
	}
	return "if-empty"
}

// bind handles queue.bind and queue.unbind. If both routing key and queue name are empty, the routing key is the name
// of the queue declared last.
func (x *simSession) bind(b *bindingOf) (err *refusal) {
	if b.queue == "" && b.routing.Key == "" {
		b.routing.Key = b.ch.queue
	}
	if b.queue, err = b.ch.shortcut(withoutEnds(b.queue)); err != nil {
		return err
	}
	return x.route(b)
}
