package broker

import (
	"cmp"
	"math"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// delivered is a message that a channel has and has not acknowledged.
type delivered struct {
	message
	tag   uint64
	since int64      // when it was delivered
	taker uint64     // the consumer's number plus 1, or byGet
	queue amqp.Queue // 0 once the queue is deleted
	how   settlement // what its transaction will do with it
}

// Takers that are no consumers.
const (
	byGet  = 0              // basic.get
	nobody = math.MaxUint64 // the taker is gone
)

// settlement is what is done with a delivered message.
type settlement uint8

const (
	acked settlement = iota
	rejected
	requeued
	abandoned // made ready again by the end of the channel
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

// acknowledge handles basic.ack and basic.nack, which have no reply: a tag that is unknown closes
// the channel with 406, and the next command finds out. In a transaction the messages are settled
// at the commit.
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

// tagged is the range of unacknowledged messages that a tag stands for: one, or with multiple all up
// to it, and tag 0 for all there are. It is negative for a tag that is not there.
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
// basic.get took, then consumer by consumer. A message that one taker returns may be gone again before the next
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

// settleAtOnce settles messages of one queue, and hands on what became ready or possible by it.
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
	looks := ready // the queue at its consumers
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

// settle settles one message, which is ready again or not. It reports whether a consumer that stood aside is back.
func (q *queue) settle(on at, d delivered, ready bool) (back bool) {
	q.unacked--
	if ready {
		d.mark |= redelivered
		q.ready.insert(d.message)
	}
	return q.replenish(on, d.taker)
}

// replenish gives a consumer credit for a message that it has settled. It reports whether the consumer stood aside
// for want of it.
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

// recover answers basic.recover: all that the channel has not acknowledged is ready again.
func (b *Broker) recover(on at, ch *channel) {
	n := len(ch.unacked) // it may be sent some of them again at once
	b.settle(on, ch.unacked, requeued)
	ch.unacked = slices.Delete(ch.unacked, 0, n)
}

// requeueAll makes ready again all that a channel has not acknowledged, in a transaction or out of
// it, before the channel is reset. Losing it is a use of the queue that it came from.
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
