package broker

import (
	"cmp"
	"math"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// delivered is a message that was delivered to a channel and is not acknowledged yet.
type delivered struct {
	message
	tag   uint64
	since int64      // time of the delivery
	taker uint64     // number of the consumer plus 1, or byGet
	queue amqp.Queue // 0 if the queue was deleted
	how   settlement // what the commit of its transaction will do with the message
}

// These are takers that are not consumers.
const (
	byGet  = 0              // the message was fetched by basic.get
	nobody = math.MaxUint64 // the consumer has ended
)

// settlement says what a client or the broker does with a delivered message.
type settlement uint8

const (
	acked settlement = iota
	rejected
	requeued
	abandoned // requeued because the channel ended
)

func settling(cmd *amqp.Command) settlement {
	switch {
	case cmd.Method == amqp.BasicAck:
		return acked
	case cmd.Flags.Has(amqp.Requeue):
		return requeued
	}
	return rejected
}

// acknowledge handles basic.ack and basic.nack, which have no reply. An unknown delivery tag closes the channel with
// 406; the client gets this code as the reply to its next command. In a transaction the messages are settled at the
// commit.
func (b *Broker) acknowledge(on at, ch *channel, cmd *amqp.Command) amqp.Reply {
	from, to := ch.tagged(cmd.Number, cmd.Flags.Has(amqp.Multiple))
	if from < 0 {
		b.fail(on, amqp.PreconditionFailed)
		return amqp.Reply{}
	}
	how := settling(cmd)
	if ch.mode == transacting {
		ch.tx.settle(ch.unacked[from:to], how)
	} else {
		b.settle(on, ch.unacked[from:to], how)
	}
	ch.unacked = slices.Delete(ch.unacked, from, to)
	return amqp.Reply{}
}

// tagged returns the range of unacknowledged messages that a delivery tag names: one message or, with multiple, all
// messages up to the tag. Tag 0 with multiple names all messages. from is negative if the tag is unknown.
func (ch *channel) tagged(tag uint64, multiple bool) (from, to int) {
	if tag == 0 && multiple {
		return 0, len(ch.unacked)
	}
	i := slices.IndexFunc(ch.unacked, func(d delivered) bool { return d.tag == tag })
	switch {
	case i < 0:
		return i, i
	case multiple:
		return 0, i + 1
	}
	return i, i + 1
}

// settle settles messages: it acknowledges, rejects or requeues them. Like RabbitMQ, it tells each queue about one
// taker after the other: first about each message that basic.get took, then about each consumer's messages. A message
// that one taker returns may thus be delivered again before the next taker's turn.
func (b *Broker) settle(on at, messages []delivered, how settlement) {
	slices.SortStableFunc(messages, func(x, y delivered) int {
		return cmp.Or(cmp.Compare(x.queue, y.queue), cmp.Compare(x.taker, y.taker))
	})
	for len(messages) > 0 {
		n := 1
		for n < len(messages) && messages[n].goesWith(&messages[0]) {
			n++
		}
		b.settleAtOnce(on, messages[:n], how)
		messages = messages[n:]
	}
}

func (d *delivered) goesWith(o *delivered) bool {
	return d.queue == o.queue && d.taker == o.taker && d.taker != byGet
}

// settleAtOnce settles messages of one queue. Then it delivers messages that are ready and that a consumer can take
// now.
func (b *Broker) settleAtOnce(on at, messages []delivered, how settlement) {
	id := messages[0].queue
	if id == 0 {
		return
	}
	q := &b.queues[id]
	if q.quorum() {
		b.settleQuorum(on, messages, how)
		return
	}
	ready := how == requeued || how == abandoned
	looks := ready // whether the queue should serve its consumers
	for _, d := range messages {
		if q.settle(on, d, ready) {
			looks = true
		}
		if how == rejected {
			b.die(q, id, d.message, Rejected)
		}
	}
	b.trim(q, id)
	if ready || q.args.Has&amqp.HasMaxPriority == 0 {
		b.dropExpired(q, id)
	}
	if looks {
		b.serve(q, id)
	}
}

// settle settles one delivered message. If ready is set, the message returns to the queue. back reports whether a
// consumer that was blocked has credit again.
func (q *queue) settle(on at, d delivered, ready bool) (back bool) {
	q.unacked--
	if ready {
		d.mark |= redelivered
		q.ready.insert(d.message)
	}
	return q.replenish(on, d.taker)
}

// replenish gives a consumer credit for one more message, after it has settled one. back reports whether the consumer
// was blocked because it had no credit.
func (q *queue) replenish(on at, taker uint64) (back bool) {
	if taker == byGet {
		return false
	}
	i := q.consumer(on, taker-1)
	if i < 0 || !q.consumers[i].limited {
		return false
	}
	c := q.consumers[i]
	c.credit++
	if !c.blocked {
		q.consumers[i] = c
		return false
	}
	c.blocked = false
	q.consumers = slices.Delete(q.consumers, i, i+1)
	q.enqueue(c)
	return true
}

// recover answers basic.recover: it requeues all unacknowledged messages of the channel.
func (b *Broker) recover(on at, ch *channel) {
	n := len(ch.unacked) // the channel may get some of the messages again at once
	b.settle(on, ch.unacked, requeued)
	ch.unacked = slices.Delete(ch.unacked, 0, n)
}

// requeueAll requeues all unacknowledged messages of a channel that is closing, including those that an open
// transaction would settle. For x-expires this counts as a use of their queues.
func (b *Broker) requeueAll(on at) {
	ch := &b.conns[on.conn-1].channels[on.number]
	ch.rollback()
	if len(ch.unacked) > 1 {
		b.orderLost(ch.unacked)
	}
	for i := range ch.unacked {
		d := &ch.unacked[i]
		d.taker = nobody // a single taker, so that each queue gets all its messages back at once
		if d.queue != 0 {
			b.touch(&b.queues[d.queue])
		}
	}
	b.settle(on, ch.unacked, abandoned)
}

// forget marks a channel's unacknowledged messages of a queue as having no queue, since the queue is deleted.
func (ch *channel) forget(id amqp.Queue) {
	for i := range ch.unacked {
		if ch.unacked[i].queue == id {
			ch.unacked[i].queue = 0
		}
	}
	for i := range ch.tx.settled {
		if ch.tx.settled[i].queue == id {
			ch.tx.settled[i].queue = 0
		}
	}
}
