package broker

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Equal reports whether two brokers are in the same state, in the sense of [Broker.AppendState].
func (b *Broker) Equal(o *Broker) bool {
	var x, y [1024]byte
	return bytes.Equal(b.AppendState(x[:0]), o.AppendState(y[:0]))
}

// AppendState appends the encoded state to buf. Brokers append equal bytes if and only if they are in equal states, and
// will then behave in the same way. The code has the time left until each deadline instead of the clock, and the order
// of messages instead of their total number. It has neither names nor options.
func (b *Broker) AppendState(buf []byte) []byte {
	for i := range b.queues {
		if b.queues[i].exists {
			buf = put(buf, uint64(i))
			buf = b.appendQueue(buf, &b.queues[i])
		}
	}
	buf = append(buf, 0) // end of the queues
	for i := range b.conns {
		if b.conns[i].alive {
			buf = put(buf, uint64(i+1))
			buf = b.appendConnection(buf, &b.conns[i])
		}
	}
	if b.routing != nil && len(b.routing.exchanges)+len(b.routing.bindings) > 0 {
		buf = b.routing.appendState(put(buf, noConnection))
	}
	return append(buf, 0, bits(b.mail != nil)) // end of the connections
}

// noConnection is a number that no connection has. It marks the beginning of the exchanges.
const noConnection = math.MaxUint16 + 1

func (r *routing) appendState(buf []byte) []byte {
	buf = put(buf, uint64(len(r.exchanges)), uint64(len(r.bindings)))
	for i := range r.exchanges {
		x := &r.exchanges[i]
		buf = append(buf, bits(x.Durable, x.AutoDelete, x.Internal))
		buf = putText(buf, x.name, x.Type, x.Alternate)
	}
	for i := range r.bindings {
		x := &r.bindings[i]
		buf = put(buf, uint64(x.queue))
		buf = putText(buf, x.source, x.destination, x.key, string(x.headers))
	}
	return buf
}

// For data that queues or channels rarely have, the code has one bit that says whether they follow.

func (b *Broker) appendQueue(buf []byte, q *queue) []byte {
	buf = append(buf, bits(q.durable, q.autoDelete, q.owner != 0, q.args.Has != 0, len(q.consumers) > 0))
	if q.owner != 0 {
		buf = put(buf, uint64(q.owner))
	}
	if q.args.Has != 0 {
		buf = put(buf, uint64(q.args.Has), uint64(q.args.Overflow), uint64(q.args.MaxPriority), uint64(q.args.MaxLength), uint64(q.args.Expires), uint64(q.args.MessageTTL))
		buf = b.appendDeadline(buf, q.expires())
		if q.quorum() {
			buf = put(buf, uint64(q.args.DeliveryLimit))
		}
		if q.wake != 0 {
			buf = b.appendDeadline(buf, q.wake)
		}
	}
	if q.dead != nil {
		buf = putText(append(buf, bits(q.dead.keyed)), q.dead.exchange, q.dead.key)
	}
	buf = b.appendBacklog(buf, &q.ready)
	if len(q.consumers) > 0 {
		buf = put(buf, uint64(len(q.consumers)))
		buf = appendConsumers(buf, q.consumers, false)
		buf = appendConsumers(buf, q.consumers, true)
	}
	return buf
}

// appendBacklog writes equal neighbours as one run, so that equal states have equal codes.
func (b *Broker) appendBacklog(buf []byte, l *backlog) []byte {
	runs := l.runs[l.head:]
	for i := 0; i < len(runs); {
		r := runs[i]
		for i++; i < len(runs) && runs[i].alike(&r.message); i++ {
			r.count += runs[i].count
		}
		buf = put(buf, r.count)
		buf = b.appendMessage(buf, &r.message)
	}
	return append(buf, 0) // end of the messages
}

func (b *Broker) appendMessage(buf []byte, m *message) []byte {
	buf = put(buf, m.id, uint64(m.mark)|uint64(m.deliveries)<<8, uint64(m.priority))
	return b.appendDeadline(b.appendLetter(buf, m.letter), m.deadline)
}

// appendLetter writes the routing data with the given number. It does not write the number, which brokers assign
// differently.
func (b *Broker) appendLetter(buf []byte, number uint32) []byte {
	if number == 0 {
		return append(buf, 0)
	}
	l := &b.mail.letters[number]
	return putText(append(buf, 1, l.priority), l.exchange, l.key, string(l.headers), l.deaths)
}

// appendConsumers writes either the blocked or the other consumers of a queue. The order between the two groups makes
// no difference.
func appendConsumers(buf []byte, consumers []consumer, blocked bool) []byte {
	for i := range consumers {
		if c := &consumers[i]; c.blocked == blocked {
			buf = append(buf, bits(c.noAck, c.exclusive, c.limited, c.blocked, c.active, c.priority != 0))
			if c.priority != 0 {
				buf = put(buf, uint64(uint16(c.priority)))
			}
			buf = put(buf, uint64(c.on.conn), uint64(c.on.number), c.number, uint64(c.credit))
		}
	}
	return buf
}

func (b *Broker) appendConnection(buf []byte, c *connection) []byte {
	for n := range c.channels {
		if ch := &c.channels[n]; ch.state != closed {
			buf = put(buf, uint64(n))
			buf = b.appendChannel(buf, ch)
		}
	}
	buf = append(buf, 0) // end of the channels
	buf = put(buf, uint64(len(c.outbox)))
	for _, d := range c.outbox {
		buf = append(buf, bits(d.Redelivered, d.Cancelled, d.Deliveries > 0))
		if d.Deliveries > 0 {
			buf = put(buf, uint64(d.Deliveries))
		}
		buf = b.appendLetter(put(buf, uint64(d.Channel), d.Consumer, d.Tag, d.Message), d.Letter)
	}
	return buf
}

func (b *Broker) appendChannel(buf []byte, ch *channel) []byte {
	if ch.state == broken {
		return put(append(buf, byte(broken)), uint64(ch.code))
	}
	used := ch.tag > 0 || len(ch.tx.publishes) > 0
	buf = append(buf, byte(ch.state), byte(ch.mode), bits(ch.prefetch > 0, ch.returned > 0, used))
	if ch.prefetch > 0 {
		buf = put(buf, uint64(ch.prefetch))
	}
	if ch.returned > 0 {
		buf = put(buf, uint64(ch.returned))
	}
	if used {
		buf = b.appendMessages(buf, ch)
	}
	return buf
}

// appendMessages writes the messages of a channel: deliveries on their way, unacknowledged messages, and its
// transaction.
func (b *Broker) appendMessages(buf []byte, ch *channel) []byte {
	buf = put(buf, ch.tag, uint64(len(ch.unacked)))
	for i := range ch.unacked {
		buf = b.appendDelivered(buf, &ch.unacked[i])
	}
	buf = put(buf, uint64(len(ch.tx.settled)))
	for i := range ch.tx.settled {
		buf = append(buf, byte(ch.tx.settled[i].how))
		buf = b.appendDelivered(buf, &ch.tx.settled[i])
	}
	buf = put(buf, uint64(len(ch.tx.publishes)))
	for _, p := range ch.tx.publishes {
		buf = put(buf, uint64(p.queue), uint64(p.flags), uint64(p.expiration), p.id, uint64(min(p.dest, firstOfName)))
		buf = b.appendLetter(append(buf, bits(b.lost(&p)), p.priority), p.letter)
	}
	return buf
}

func (b *Broker) appendDelivered(buf []byte, d *delivered) []byte {
	buf = put(buf, d.tag, uint64(d.queue), d.taker)
	if b.opts.ConsumerTimeout > 0 {
		buf = b.appendDeadline(buf, d.since+b.opts.ConsumerTimeout)
	}
	if d.queue == 0 {
		return buf
	}
	return b.appendMessage(put(buf, b.ahead(d)), &d.message)
}

// appendDeadline writes the milliseconds left until a deadline, plus 1; 0 means that it never comes.
func (b *Broker) appendDeadline(buf []byte, deadline int64) []byte {
	if deadline == never {
		return append(buf, 0)
	}
	return put(buf, uint64(max(deadline-b.now, 0))+1)
}

// put appends numbers, each as one byte if it is small.
func put(buf []byte, values ...uint64) []byte {
	for _, v := range values {
		if v < 0x80 {
			buf = append(buf, byte(v))
		} else {
			buf = binary.AppendUvarint(buf, v)
		}
	}
	return buf
}

// putText appends texts, each after its length.
func putText(buf []byte, texts ...string) []byte {
	for _, s := range texts {
		buf = append(put(buf, uint64(len(s))), s...)
	}
	return buf
}

func bits(values ...bool) byte {
	var n byte
	for i, v := range values {
		if v {
			n |= 1 << i
		}
	}
	return n
}
