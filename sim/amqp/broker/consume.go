package broker

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// consumer is a consumer of a queue. Its channel (on) and its number on this channel identify it.
type consumer struct {
	on        at
	number    uint64
	noAck     bool
	exclusive bool
	limited   bool // the consumer has a prefetch count
	blocked   bool // the consumer has no credit and is skipped
	active    bool // the queue has a single active consumer, and it is this one
	priority  int16
	place     uint16 // the consumer's position in the queue; used only while a state is read
	credit    uint32 // number of messages that the consumer may be sent before it acknowledges one
}

// consume answers basic.consume.
func (b *Broker) consume(on at, ch *channel, cmd *amqp.Command) amqp.Reply {
	if b.consumes(on, cmd.Number) {
		return b.endConnection(on.conn, amqp.NotAllowed)
	}
	q, code := b.accessible(on.conn, cmd.Queue)
	if code != 0 {
		return b.fail(on, code)
	}
	c := consumer{
		on: on, number: cmd.Number, noAck: cmd.Flags.Has(amqp.NoAck), exclusive: cmd.Flags.Has(amqp.Exclusive), priority: cmd.Priority,
	}
	single := q.singleActive()
	switch {
	case q.quorum():
		b.admit(q, cmd.Queue, &c, ch.prefetch)
	case len(q.consumers) > 0 && (c.exclusive || q.consumers[0].exclusive) || c.exclusive && single:
		return b.fail(on, amqp.AccessRefused)
	case !c.noAck && ch.prefetch > 0:
		c.limited, c.credit = true, uint32(ch.prefetch)
	}
	c.active = single && q.active() < 0
	q.enqueue(c)
	b.serve(q, cmd.Queue)
	return ok
}

// consumes reports whether the channel has a consumer with the given number.
func (b *Broker) consumes(on at, number uint64) bool {
	for i := range b.queues {
		if b.queues[i].consumer(on, number) >= 0 {
			return true
		}
	}
	return false
}

// consumer returns the index of a channel's consumer in the queue; -1 if there is none.
func (q *queue) consumer(on at, number uint64) int {
	for i := range q.consumers {
		if q.consumers[i].on == on && q.consumers[i].number == number {
			return i
		}
	}
	return -1
}

// cancel answers basic.cancel. The channel keeps the messages that the consumer has not acknowledged. Cancelling an
// unknown consumer succeeds.
func (b *Broker) cancel(on at, cmd *amqp.Command) amqp.Reply {
	for id := range b.queues {
		q := &b.queues[id]
		if i := q.consumer(on, cmd.Number); i >= 0 {
			q.consumers = slices.Delete(q.consumers, i, i+1)
			b.consumerGone(amqp.Queue(id))
			if b.opts.SuccessorServed || q.quorum() {
				b.serve(q, amqp.Queue(id))
			}
			break
		}
	}
	return ok
}

// dropConsumersOf removes the consumers of a connection. It returns the queues whose active consumer may have changed.
// It looks only at open channels: drivers keep increasing channel numbers, so most entries are closed.
func (b *Broker) dropConsumersOf(c Conn) (succeeded []amqp.Queue) {
	channels := b.conns[c-1].channels
	for n := range channels {
		if channels[n].state == open {
			succeeded = append(succeeded, b.dropConsumers(at{c, uint16(n)})...)
		}
	}
	return succeeded
}

// dropConsumers removes the consumers of a channel. It returns the queues whose active consumer may have changed.
func (b *Broker) dropConsumers(on at) (succeeded []amqp.Queue) {
	for id := range b.queues {
		q := &b.queues[id]
		before := len(q.consumers)
		if before == 0 {
			continue
		}
		q.consumers = slices.DeleteFunc(q.consumers, func(c consumer) bool { return c.on == on })
		if len(q.consumers) < before {
			b.consumerGone(amqp.Queue(id))
			if q.singleActive() {
				succeeded = append(succeeded, amqp.Queue(id))
			}
		}
	}
	return succeeded
}

// consumerGone is called after a queue has lost a consumer. It deletes an auto-delete queue that has none left. For
// other queues it counts as use for x-expires, and a next active consumer is chosen.
func (b *Broker) consumerGone(id amqp.Queue) {
	q := &b.queues[id]
	if q.autoDelete && len(q.consumers) == 0 {
		b.drop(id)
		return
	}
	if q.singleActive() {
		q.succeed()
	}
	b.touch(q)
}

// enqueue inserts a consumer behind those with the same or a higher priority.
func (q *queue) enqueue(c consumer) {
	i := len(q.consumers)
	for i > 0 && q.consumers[i-1].priority < c.priority {
		i--
	}
	q.consumers = slices.Insert(q.consumers, i, c)
}

// serve delivers ready messages to the consumers of a queue in turn, those with higher priority first; or only to the
// single active consumer. A consumer without credit is skipped until it has acknowledged a message, and then joins the
// end of the turn.
func (b *Broker) serve(q *queue, id amqp.Queue) {
	for turn := 0; q.ready.depth > 0 && turn < len(q.consumers); {
		c := q.consumers[turn]
		switch {
		case c.blocked, q.singleActive() && !c.active:
			turn++
			continue
		case c.limited && c.credit == 0:
			c.blocked = true
		default:
			if c.limited {
				c.credit--
				c.blocked = c.credit == 0 && q.quorum() // a quorum queue blocks it at once, not at its next turn
			}
			b.deliver(q, id, c)
		}
		q.consumers = slices.Delete(q.consumers, turn, turn+1)
		q.enqueue(c)
	}
}

// deliver sends the first ready message to consumer c.
func (b *Broker) deliver(q *queue, id amqp.Queue, c consumer) {
	conn := &b.conns[c.on.conn-1]
	ch := &conn.channels[c.on.number]
	m := b.hand(q, id, ch, c.number+1, c.noAck)
	b.send(conn, amqp.Delivery{
		Channel: c.on.number, Consumer: c.number, Tag: ch.tag, Message: m.id, Redelivered: m.mark&redelivered != 0,
		Deliveries: m.deliveries, Letter: m.letter,
	})
}

// hand removes the first ready message from a queue and gives it to a channel, with the channel's next delivery tag.
func (b *Broker) hand(q *queue, id amqp.Queue, ch *channel, taker uint64, noAck bool) message {
	m := q.ready.pop()
	b.dropExpired(q, id)
	ch.tag++
	if !noAck {
		ch.unacked = append(ch.unacked, delivered{tag: ch.tag, since: b.now, queue: id, taker: taker, message: m})
		q.unacked++
		b.awaits = true
	}
	return m
}

// get answers basic.get. For x-expires this counts as a use of the queue.
func (b *Broker) get(on at, ch *channel, cmd *amqp.Command) amqp.Reply {
	q, code := b.accessible(on.conn, cmd.Queue)
	if code != 0 {
		return b.fail(on, code)
	}
	if q.quorum() && q.singleActive() {
		return b.fail(on, amqp.ResourceLocked)
	}
	b.touch(q)
	if q.ready.depth == 0 {
		return amqp.Reply{Kind: amqp.GetEmpty}
	}
	left := q.ready.depth - 1
	m := b.hand(q, cmd.Queue, ch, byGet, cmd.Flags.Has(amqp.NoAck))
	if !q.quorum() { // a quorum queue counts the ready messages before it drops expired ones
		left = q.ready.depth
	}
	return amqp.Reply{
		Kind: amqp.GetOK, Messages: uint32(left), Number: ch.tag,
		Message: m.id, Redelivered: m.mark&redelivered != 0, Deliveries: m.deliveries, Letter: m.letter,
	}
}
