package broker

import (
	"cmp"
	"math"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// delivered is a message that was delivered to a channel, and not acknowledged yet.
type delivered struct {
	message
	tag   uint64
	since int64      // time of the delivery
	taker uint64     // the consumer's number plus 1, or byGet
	queue amqp.Queue // 0 once the queue is deleted
	how   settlement // what its transaction will do with the message
}

// Takers other than consumers.
const (
	byGet  = 0              // basic.get
	nobody = math.MaxUint64 // the taker has ended
)

// settlement is what happens to a delivered message.
type settlement uint8

const (
	acked settlement = iota
	rejected
	requeued
	abandoned // requeued by the end of the channel
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

// acknowledge handles basic.ack and basic.nack, which have no reply: an unknown tag closes the channel with 406, and
// the next command gets this reply. In a transaction the messages are settled at the commit.
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

// tagged is the range of unacknowledged messages for a tag: one message; or, with multiple, all up to it, and for tag
// 0 all messages. It is negative if there is no such tag.
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

// settle settles messages. RabbitMQ tells each queue about one taker after the other: first each message that
// basic.get took, then consumer by consumer. A message that one taker returns may be taken again before the next
// taker's turn.
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

// settleAtOnce settles messages of one queue, and then delivers messages that have become ready or deliverable.
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
	looks := ready // the queue may have messages for its consumers
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

// settle settles one message; ready: it goes back to the queue. back reports whether a blocked consumer has credit
// again.
func (q *queue) settle(on at, d delivered, ready bool) (back bool) {
	q.unacked--
	if ready {
		d.mark |= redelivered
		q.ready.insert(d.message)
	}
	return q.replenish(on, d.taker)
}

// replenish gives a consumer credit for a message that it has settled. back reports whether the consumer was blocked
// for lack of credit.
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

// recover answers basic.recover: all unacknowledged messages of the channel are ready again.
func (b *Broker) recover(on at, ch *channel) {
	n := len(ch.unacked) // some of them may be delivered to it again at once
	b.settle(on, ch.unacked, requeued)
	ch.unacked = slices.Delete(ch.unacked, 0, n)
}

// requeueAll makes all unacknowledged messages of a channel ready again, including those in a transaction, before the
// channel is reset. For the queue this counts as use.
func (b *Broker) requeueAll(on at) {
	ch := &b.conns[on.conn-1].channels[on.number]
	ch.rollback()
	if len(ch.unacked) > 1 {
		b.orderLost(ch.unacked)
	}
	for i := range ch.unacked {
		d := &ch.unacked[i]
		d.taker = nobody // so that each queue gets all of its messages at once
		if d.queue != 0 {
			b.touch(&b.queues[d.queue])
		}
	}
	b.settle(on, ch.unacked, abandoned)
}

// forget detaches a channel's messages from a queue.
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
