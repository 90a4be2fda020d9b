package wire

import (
	"cmp"
	"math"
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// onBasic handles the methods of class basic except basic.publish.
func (x *simSession) onBasic(ch *simChannel, m frame.Method) *refusal {
	switch m := m.(type) {
	case *frame.BasicGet:
		return x.get(ch, m)
	case *frame.BasicConsume:
		return x.consume(ch, m)
	case *frame.BasicCancel:
		return x.cancel(ch, m)
	case *frame.BasicQos:
		return x.qos(ch, m)
	case *frame.BasicAck:
		return x.settle(ch, amqp.Command{Method: amqp.BasicAck, Number: m.DeliveryTag}, m.Multiple, false)
	case *frame.BasicNack:
		return x.settle(ch, amqp.Command{Method: amqp.BasicNack, Number: m.DeliveryTag}, m.Multiple, m.Requeue)
	case *frame.BasicReject:
		return x.settle(ch, amqp.Command{Method: amqp.BasicNack, Number: m.DeliveryTag}, false, m.Requeue)
	case *frame.BasicRecover:
		err := x.recover(ch, m.Requeue)
		if err == nil {
			x.answer(ch.number, &frame.BasicRecoverOk{})
		}
		return err
	case *frame.BasicRecoverAsync:
		return x.recover(ch, m.Requeue)
	}
	return unimplemented()
}

func (x *simSession) get(ch *simChannel, m *frame.BasicGet) *refusal {
	name, err := ch.shortcut(m.Queue)
	if err != nil {
		return err
	}
	cmd := amqp.Command{Method: amqp.BasicGet, Queue: x.host.queues.lookup(name)}
	if m.NoAck {
		cmd.Flags = amqp.NoAck
	}
	quorum := x.isQuorum(cmd.Queue)
	r, code := x.apply(ch, cmd)
	switch {
	case code == frame.ResourceLocked && quorum:
		return refusef(code, "cannot obtain access to locked queue '%s' in vhost '/'. basic.get operations are not supported by quorum queues with single active consumer", name)
	case code != 0:
		return aboutQueue(code, name)
	case r.Kind == amqp.GetEmpty:
		x.answer(ch.number, &frame.BasicGetEmpty{})
		return nil
	}
	says := x.message(r.Message, r.Letter)
	if quorum {
		says = counted(says, r.Deliveries)
	}
	x.say(Message{Channel: ch.number, Content: says.content, Method: &frame.BasicGetOk{
		DeliveryTag: r.Number, Redelivered: r.Redelivered, Exchange: says.exchange, RoutingKey: says.key, MessageCount: r.Messages,
	}})
	return nil
}

func (x *simSession) qos(ch *simChannel, m *frame.BasicQos) *refusal {
	switch {
	case m.PrefetchSize != 0:
		return refusef(frame.NotImplemented, "prefetch_size!=0 (%d)", m.PrefetchSize)
	case m.Global && m.PrefetchCount != 0:
		return unsupported("basic.qos with the flag global: leave it out, for a count for each consumer")
	}
	cmd := amqp.Command{Method: amqp.BasicQos, Number: uint64(m.PrefetchCount)}
	return x.do(ch, cmd, false, &frame.BasicQosOk{}, "")
}

// settle handles basic.ack, basic.nack and basic.reject. They have no reply. If the delivery tag is unknown, the
// channel is closed.
func (x *simSession) settle(ch *simChannel, cmd amqp.Command, multiple, requeue bool) *refusal {
	if multiple {
		cmd.Flags |= amqp.Multiple
	}
	if requeue {
		cmd.Flags |= amqp.Requeue
	}
	x.apply(ch, cmd)
	if code := x.host.broker.Broken(x.conn, ch.number); code != 0 {
		return refusef(frame.Code(code), "unknown delivery tag %d", cmd.Number)
	}
	return nil
}

// recover handles basic.recover: it makes all unacknowledged messages of the channel ready again.
func (x *simSession) recover(ch *simChannel, requeue bool) *refusal {
	if !requeue {
		return refusef(frame.NotImplemented, "requeue=false")
	}
	x.apply(ch, amqp.Command{Method: amqp.BasicRecover})
	return nil
}

// consume handles basic.consume.
func (x *simSession) consume(ch *simChannel, m *frame.BasicConsume) *refusal {
	if m.Queue == directReply {
		return unsupported("direct replies")
	}
	name, err := ch.shortcut(m.Queue)
	if err != nil {
		return err
	}
	w := &simConsumer{tag: m.ConsumerTag}
	if w.tag == "" {
		w.tag = x.s.generated("amq.ctag-")
	}
	x.s.named++
	w.number = uint64(x.s.named)
	if slices.ContainsFunc(ch.consumers, func(o *simConsumer) bool { return o.tag == w.tag }) {
		return refusef(frame.NotAllowed, "attempt to reuse consumer tag '%s'", w.tag)
	}
	if len(ch.consumers) >= maxConsumers {
		return exceeds(frame.NotAllowed, "reached maximum (%d) of consumers per channel", maxConsumers)
	}
	cmd := amqp.Command{Method: amqp.BasicConsume, Queue: x.host.queues.lookup(name), Number: w.number}
	if cmd.Priority, err = consumerPriority(m.Arguments, name); err != nil {
		return cmp.Or(x.unusable(cmd.Queue, name), err)
	}
	if m.NoAck {
		cmd.Flags |= amqp.NoAck
	}
	if m.Exclusive {
		cmd.Flags |= amqp.Exclusive
	}
	if _, code := x.apply(ch, cmd); code != 0 {
		return aboutQueue(code, name)
	}
	ch.consumers = append(ch.consumers, w)
	x.host.consumers++
	if !m.NoWait {
		x.answer(ch.number, &frame.BasicConsumeOk{ConsumerTag: w.tag})
	}
	return nil
}

// cancel handles basic.cancel. It is no error if the consumer does not exist.
func (x *simSession) cancel(ch *simChannel, m *frame.BasicCancel) *refusal {
	i := slices.IndexFunc(ch.consumers, func(w *simConsumer) bool { return w.tag == m.ConsumerTag })
	if i >= 0 {
		w := ch.consumers[i]
		x.apply(ch, amqp.Command{Method: amqp.BasicCancel, Number: w.number})
		ch.consumers = slices.Delete(ch.consumers, i, i+1)
		x.host.consumers--
	}
	if !m.NoWait {
		x.answer(ch.number, &frame.BasicCancelOk{ConsumerTag: m.ConsumerTag})
	}
	return nil
}

// unusable is the error for a queue that does not exist or that another connection owns; nil if the client can use the
// queue.
func (x *simSession) unusable(queue amqp.Queue, name string) *refusal {
	switch owner := x.host.broker.Owner(queue); {
	case !x.host.broker.Exists(queue):
		return aboutQueue(frame.NotFound, name)
	case owner != 0 && owner != x.conn:
		return aboutQueue(frame.ResourceLocked, name)
	}
	return nil
}

// consumerPriority is the consumer argument x-priority; 0 if it is missing. An invalid value is an error.
func consumerPriority(arguments frame.Table, name string) (int16, *refusal) {
	v, given := arguments.Lookup("x-priority")
	n, whole := integer(v)
	switch {
	case !given:
		return 0, nil
	case !whole:
		return 0, refusef(frame.PreconditionFailed, "invalid arg 'x-priority' for queue '%s' in vhost '/': %s", name, notInteger(v))
	case n != int64(int16(n)):
		return 0, unsupported("consumers of priority %d: from %d to %d they have", n, math.MinInt16, math.MaxInt16)
	}
	return int16(n), nil
}

// cancelled removes consumer i of a channel, whose queue is gone, and notifies the client if it wants that.
func (x *simSession) cancelled(ch *simChannel, i int) {
	tag := ch.consumers[i].tag
	ch.consumers = slices.Delete(ch.consumers, i, i+1)
	x.host.consumers--
	if x.cancelNotify {
		x.answer(ch.number, &frame.BasicCancel{ConsumerTag: tag, NoWait: true})
	}
}

// deliver sends the connection's consumers the messages that the model has delivered. It notifies the client of
// consumers whose queues are gone.
func (x *simSession) deliver() {
	x.host.buf = x.host.broker.Deliveries(x.conn, x.host.buf[:0])
	for _, d := range x.host.buf {
		ch := x.channels[d.Channel]
		if ch == nil {
			continue
		}
		i := slices.IndexFunc(ch.consumers, func(w *simConsumer) bool { return w.number == d.Consumer })
		switch {
		case i < 0:
			continue
		case d.Cancelled:
			x.cancelled(ch, i)
			continue
		}
		says := x.message(d.Message, d.Letter)
		if d.Deliveries > 0 {
			says = counted(says, d.Deliveries)
		}
		x.say(Message{Channel: d.Channel, Content: says.content, Method: &frame.BasicDeliver{
			ConsumerTag: ch.consumers[i].tag, DeliveryTag: d.Tag, Redelivered: d.Redelivered, Exchange: says.exchange, RoutingKey: says.key,
		}})
	}
}
