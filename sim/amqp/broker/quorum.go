package broker

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
)

// This file has the differences between quorum queues and classic queues; see FACTS Q1 and the following.

// arrivals is the position of the first message that is published to a quorum queue. Messages that return have smaller
// positions.
const arrivals = 1 << 62

// unlimited is the credit of a quorum queue's consumer without a prefetch count: the number of messages that it may be
// sent before it acknowledges one.
const unlimited = 2000

// quorum reports whether the properties are those of a quorum queue.
func (p *properties) quorum() bool { return p.args.Has&amqp.Quorum != 0 }

// unfit returns the error code for a quorum queue with these properties, if RabbitMQ refuses them or this broker does
// not support them; otherwise 0.
func (p *properties) unfit(opts *Options) amqp.Code {
	switch {
	case !p.quorum():
		return 0
	case p.autoDelete, p.owner != 0, !p.durable, p.args.Has&amqp.HasMaxPriority != 0:
		return amqp.PreconditionFailed
	case p.args.Has&amqp.HasExpires != 0, p.args.Overflow != amqp.DropHead, opts.Four:
		return amqp.NotImplemented
	}
	return 0
}

// occupants returns the number of consumers that a quorum queue reports. It counts consumers that are served, and each
// ended consumer or basic.get that still has an unacknowledged message. It does not count consumers that wait behind a
// single active one.
func (b *Broker) occupants(id amqp.Queue) (n int) {
	q := &b.queues[id]
	for i := range q.consumers {
		if !q.singleActive() || q.consumers[i].active {
			n++
		}
	}
	if q.unacked == 0 {
		return n
	}
	for i := range b.conns {
		for k := range b.conns[i].channels {
			n += b.conns[i].channels[k].absent(q, at{Conn(i + 1), uint16(k)}, id)
		}
	}
	return n
}

// absent returns the number of ended consumers and basic.gets of a channel that still have unacknowledged messages of a
// queue.
func (ch *channel) absent(q *queue, on at, id amqp.Queue) (n int) {
	var gone []uint64
	for _, d := range slices.Concat(ch.unacked, ch.tx.settled) {
		switch {
		case d.queue != id:
		case d.taker == byGet:
			n++
		case q.consumer(on, d.taker-1) < 0 && !slices.Contains(gone, d.taker):
			gone = append(gone, d.taker)
		}
	}
	return n + len(gone)
}

// admit sets the credit of a new consumer of a quorum queue. If an earlier consumer with the same number was cancelled,
// its unacknowledged messages reduce the credit. An exclusive consumer does not exclude others (FACTS Q5).
func (b *Broker) admit(q *queue, id amqp.Queue, c *consumer, prefetch uint16) {
	if q.singleActive() {
		c.priority = 0
	}
	if c.noAck {
		return
	}
	c.limited, c.credit = true, unlimited
	if prefetch > 0 {
		c.credit = uint32(prefetch)
	}
	ch := &b.conns[c.on.conn-1].channels[c.on.number]
	for _, d := range slices.Concat(ch.unacked, ch.tx.settled) {
		if d.queue == id && d.taker == c.number+1 && c.credit > 0 {
			c.credit--
		}
	}
	c.blocked = c.credit == 0
}

// settleQuorum settles messages of a quorum queue one by one. A message that a client returns may be delivered again
// before the next one returns.
func (b *Broker) settleQuorum(on at, messages []delivered, how settlement) {
	id := messages[0].queue
	q := &b.queues[id]
	for _, d := range messages {
		q.unacked--
		q.replenish(on, d.taker)
		switch how {
		case rejected:
			b.die(q, id, d.message, Rejected)
		case requeued, abandoned:
			b.comeBack(q, id, d.message, how)
		}
		if how == requeued && !q.limitsDeliveries() {
			b.look(q, id)
		}
	}
	b.look(q, id)
}

// look makes a quorum queue drop expired messages, serve its consumers, and then drop messages beyond its maximum
// length.
func (b *Broker) look(q *queue, id amqp.Queue) {
	b.dropExpired(q, id)
	b.serve(q, id)
	b.trim(q, id)
}

func (q *queue) limitsDeliveries() bool { return q.args.Has&amqp.HasDeliveryLimit != 0 }

// comeBack returns a message to a quorum queue, unless it has returned too often. The message is placed behind other
// returned messages and before all published ones. If the queue has no delivery limit and the client returned the
// message itself, it is placed at the end (FACTS Q3).
func (b *Broker) comeBack(q *queue, id amqp.Queue, m message, how settlement) {
	m.mark |= redelivered
	m.deliveries = min(m.deliveries, math.MaxUint16-1) + 1
	switch {
	case q.limitsDeliveries() && uint32(m.deliveries) > q.args.DeliveryLimit:
		b.die(q, id, m, DeliveryLimit)
	case how == requeued && !q.limitsDeliveries():
		m.position = q.next
		q.next++
		q.ready.push(m)
	default:
		m.position = q.returned
		q.returned++
		q.ready.insert(m)
	}
}

// orderLost sorts the messages of a channel that has ended in the order in which quorum queues get them back: by the
// consumer's tag or, for basic.get, by the delivery tag as text. This broker has the number of a consumer instead of
// its tag.
func (b *Broker) orderLost(messages []delivered) {
	slices.SortStableFunc(messages, func(x, y delivered) int {
		if x.queue != y.queue || !b.queues[x.queue].quorum() {
			return cmp.Compare(x.queue, y.queue)
		}
		return strings.Compare(x.name(), y.name())
	})
}

func (d *delivered) name() string {
	if d.taker == byGet {
		return strconv.FormatUint(d.tag, 10)
	}
	return "c" + strconv.FormatUint(d.taker-1, 10)
}
