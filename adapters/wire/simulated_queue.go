package wire

import (
	"strings"

	"github.com/lockproof/lockproof/adapters/wire/frame"
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
		r, code := x.apply(ch, amqp.Command{Method: amqp.QueuePurge, Queue: x.s.queues.lookup(name)})
		if code != 0 {
			return aboutQueue(code, name)
		}
		if !m.NoWait {
			x.answer(ch.number, &frame.QueuePurgeOk{MessageCount: r.Messages})
		}
		return nil
	case *frame.QueueBind:
		return x.bind(ch, m)
	case *frame.QueueUnbind:
		if m.Exchange == "" {
			return onDefaultExchange()
		}
		x.answer(ch.number, &frame.QueueUnbindOk{}) // RabbitMQ does not look whether there was a binding
		return nil
	}
	return unimplemented()
}

// shortcut is the queue that a name stands for: an empty one for the queue declared last.
func (ch *simChannel) shortcut(name string) (string, *refusal) {
	if name == "" {
		name = ch.queue
	}
	if name == "" {
		return "", refusef(frame.NotFound, "no previously declared queue")
	}
	return name, nil
}

// endsOfLines are left out of the names of queues, as RabbitMQ does.
var endsOfLines = strings.NewReplacer("\r", "", "\n", "")

// declare handles queue.declare.
func (x *simSession) declare(ch *simChannel, m *frame.QueueDeclare) *refusal {
	name := m.Queue
	if strings.ContainsAny(name, "\r\n") {
		name = endsOfLines.Replace(name)
	}
	cmd, err := declaration(m, name)
	if err != nil {
		return err
	}
	switch {
	case m.Passive:
		cmd.Queue = x.s.queues.lookup(name)
	case strings.HasPrefix(name, "amq."):
		return refusef(frame.AccessRefused, "queue name '%s' contains reserved prefix 'amq.*'", name)
	default:
		if name == "" {
			name = x.s.generated("amq.gen-")
		}
		if cmd.Queue = x.s.queues.enter(name); cmd.Queue == 0 {
			return refusef(frame.ResourceError, "the simulated broker has no room for one more queue")
		}
	}
	existed := x.s.broker.Exists(cmd.Queue)
	r, code := x.apply(ch, cmd)
	if code != 0 {
		return x.notDeclared(code, name, cmd.Queue, m)
	}
	if !existed {
		x.s.queues.places[cmd.Queue].declared = m
	}
	ch.queue = name
	if !m.NoWait {
		x.answer(ch.number, &frame.QueueDeclareOk{Queue: name, MessageCount: r.Messages, ConsumerCount: r.Consumers})
	}
	return nil
}

func (x *simSession) notDeclared(code frame.Code, name string, id amqp.Queue, m *frame.QueueDeclare) *refusal {
	switch code {
	case frame.PreconditionFailed:
		return refusef(code, "%s", inequivalent(name, m, x.s.queues.places[id].declared))
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
	cmd := amqp.Command{Method: amqp.QueueDelete, Queue: x.s.queues.lookup(name)}
	why := "queue '%s' in vhost '/' not empty"
	if m.IfUnused {
		cmd.Flags |= amqp.IfUnused
		why = "queue '%s' in vhost '/' in use"
	}
	if m.IfEmpty {
		cmd.Flags |= amqp.IfEmpty
	}
	r, code := x.apply(ch, cmd)
	switch {
	case code == frame.PreconditionFailed:
		return refusef(code, why, name)
	case code != 0:
		return aboutQueue(code, name)
	case !m.NoWait:
		x.answer(ch.number, &frame.QueueDeleteOk{MessageCount: r.Messages})
	}
	return nil
}

// bind handles queue.bind. What is bound gets no message by it: publishing to another exchange than the
// default one is refused.
func (x *simSession) bind(ch *simChannel, m *frame.QueueBind) *refusal {
	name, err := ch.shortcut(m.Queue)
	switch {
	case err != nil:
		return err
	case m.Exchange == "":
		return onDefaultExchange()
	}
	_, code := x.apply(ch, amqp.Command{Method: amqp.QueueBind, Queue: x.s.queues.lookup(name)})
	switch {
	case code != 0:
		return aboutQueue(code, name)
	case !predeclared(m.Exchange):
		return noExchange(m.Exchange)
	case !m.NoWait:
		x.answer(ch.number, &frame.QueueBindOk{})
	}
	return nil
}
