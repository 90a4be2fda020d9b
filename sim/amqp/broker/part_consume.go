package broker

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/codec"
)

// The encoded part of a connection has, for each channel, its consumers and unacknowledged messages, each with its
// place in its queue, and the messages on their way to the channel. A channel with none of these writes nothing.

// consuming is a bit in the encoded mode of a channel. It says that consumers or messages of the channel follow.
const consuming channelMode = 0x80

// consumesAny reports whether a channel has consumers, unacknowledged messages, or messages on their way to it.
func (b *Broker) consumesAny(on at) bool {
	conn := &b.conns[on.conn-1]
	ch := &conn.channels[on.number]
	if len(ch.unacked)+len(ch.tx.settled) > 0 || slices.ContainsFunc(conn.outbox, func(d amqp.Delivery) bool { return d.Channel == on.number }) {
		return true
	}
	for id := range b.queues {
		if slices.ContainsFunc(b.queues[id].consumers, func(c consumer) bool { return c.on == on }) {
			return true
		}
	}
	return false
}

// codeConsumption writes or reads the consumers and messages of a channel.
func (b *Broker) codeConsumption(c *codec.Coder, on at) {
	ch := &b.conns[on.conn-1].channels[on.number]
	b.codeDelivered(c, &ch.unacked, false)
	b.codeDelivered(c, &ch.tx.settled, true)
	b.codeOutbox(c, on)
	if c.Reading() {
		for {
			var id amqp.Queue
			if codec.Number(c, &id); id == 0 {
				return
			}
			var one consumer
			codeConsumer(c, &one)
			one.on = on
			b.place(id).restore(one)
		}
	}
	for id := range b.queues {
		q := &b.queues[id]
		for i := range q.consumers {
			if one := q.consumers[i]; one.on == on {
				one.place = q.placeOf(i)
				codec.Number(c, &id)
				codeConsumer(c, &one)
			}
		}
	}
	none := 0
	codec.Number(c, &none)
}

func codeConsumer(c *codec.Coder, one *consumer) {
	codec.Number(c, &one.place)
	codec.Number(c, &one.number)
	codec.Bools(c, &one.noAck, &one.exclusive, &one.limited, &one.blocked, &one.active)
	priority := uint16(one.priority)
	codec.Number(c, &priority)
	one.priority = int16(priority)
	codec.Number(c, &one.credit)
}

// placeOf returns the place of a queue's i-th consumer in its turn. Consumers that are not blocked come before blocked
// ones: their relative order makes no difference.
func (q *queue) placeOf(i int) (place uint16) {
	for k := range q.consumers {
		o, c := &q.consumers[k], &q.consumers[i]
		if o.blocked == c.blocked && k < i || !o.blocked && c.blocked {
			place++
		}
	}
	return place
}

// restore inserts a consumer that was read, according to its place.
func (q *queue) restore(c consumer) {
	i := len(q.consumers)
	for i > 0 && q.consumers[i-1].place > c.place {
		i--
	}
	q.consumers = slices.Insert(q.consumers, i, c)
}

// codeDelivered writes or reads a list of unacknowledged messages. settled says that an open transaction has settled
// them.
func (b *Broker) codeDelivered(c *codec.Coder, list *[]delivered, settled bool) {
	n := codec.Length(c, len(*list))
	if c.Reading() {
		*list = append((*list)[:0], make([]delivered, n)...)
		b.awaits = b.awaits || n > 0
	}
	for i := range *list {
		d := &(*list)[i]
		codec.Number(c, &d.tag)
		codec.Number(c, &d.queue)
		codec.Number(c, &d.taker)
		codec.Number(c, &d.id)
		codec.Byte(c, &d.mark)
		if settled {
			codec.Byte(c, &d.how)
		}
		b.codeDeadline(c, &d.deadline)
		if b.opts.ConsumerTimeout > 0 {
			age := b.now - d.since
			codec.Number(c, &age)
			d.since = b.now - age
		}
		b.codePosition(c, d)
	}
}

// codePosition writes or reads the position of an unacknowledged message, as the number of messages that precede it in
// its queue.
func (b *Broker) codePosition(c *codec.Coder, d *delivered) {
	if d.queue == 0 {
		return
	}
	position := uint64(0)
	if !c.Reading() {
		position = b.ahead(d)
	}
	codec.Number(c, &position)
	if c.Reading() {
		q := b.place(d.queue)
		d.position = position
		q.unacked++
		q.next = max(q.next, position+1)
	}
}

// codeOutbox writes or reads the deliveries on their way to a channel.
func (b *Broker) codeOutbox(c *codec.Coder, on at) {
	conn := &b.conns[on.conn-1]
	n := 0
	for _, d := range conn.outbox {
		if d.Channel == on.number {
			n++
		}
	}
	n = codec.Length(c, n)
	if c.Reading() {
		for range n {
			d := amqp.Delivery{Channel: on.number}
			codeDelivery(c, &d)
			conn.outbox = append(conn.outbox, d)
		}
		return
	}
	for _, d := range conn.outbox {
		if d.Channel == on.number {
			codeDelivery(c, &d)
		}
	}
}

func codeDelivery(c *codec.Coder, d *amqp.Delivery) {
	codec.Number(c, &d.Consumer)
	codec.Number(c, &d.Tag)
	codec.Number(c, &d.Message)
	codec.Bools(c, &d.Redelivered, &d.Cancelled)
}

// ahead returns the number of messages of the same queue and priority that precede an unacknowledged message, whether
// ready or not.
func (b *Broker) ahead(d *delivered) uint64 {
	n := b.queues[d.queue].ready.before(&d.message)
	for i := range b.conns {
		for k := range b.conns[i].channels {
			ch := &b.conns[i].channels[k]
			n += before(ch.unacked, d) + before(ch.tx.settled, d)
		}
	}
	return n
}

func (l *backlog) before(m *message) uint64 {
	n := uint64(0)
	for _, r := range l.runs[l.head:] {
		if r.priority == m.priority && r.position < m.position {
			n += min(r.count, m.position-r.position)
		}
	}
	return n
}

func before(messages []delivered, d *delivered) uint64 {
	n := uint64(0)
	for i := range messages {
		if o := &messages[i]; o.queue == d.queue && o.priority == d.priority && o.position < d.position {
			n++
		}
	}
	return n
}
