package broker

import "github.com/lockproof/lockproof/model/amqp"

// publish answers basic.publish on the default exchange. Where the channel is in confirm mode the
// answer is the confirm; a mandatory message without a queue is returned first (BROKER-FACTS 1). In
// a transaction nothing happens before the commit (BROKER-FACTS 18).
func (b *Broker) publish(ch *channel, cmd *amqp.Command) amqp.Reply {
	if ch.mode == transacting {
		ch.tx.publishes = append(ch.tx.publishes, publishing(cmd))
		return amqp.Reply{}
	}
	accepted := b.route(ch, publishing(cmd))
	switch {
	case ch.mode == plain:
		return amqp.Reply{}
	case !accepted:
		return amqp.Reply{Kind: amqp.Nack}
	}
	return amqp.Reply{Kind: amqp.Ack}
}

// publication is a message on its way to a queue.
type publication struct {
	queue      amqp.Queue
	flags      amqp.Flags
	expiration uint32
	id         uint64
}

func publishing(cmd *amqp.Command) publication {
	return publication{cmd.Queue, cmd.Flags, cmd.Expiration, cmd.Number}
}

// route hands a message to its queue, or returns it. It does not matter whose the queue is
// (BROKER-FACTS 2). It reports whether no queue rejected it.
func (b *Broker) route(ch *channel, p publication) bool {
	q := b.place(p.queue)
	if !q.exists {
		if p.flags.Has(amqp.Mandatory) {
			ch.returned++
		}
		return true
	}
	if q.args.Overflow == amqp.RejectPublish && q.overflows(1) {
		return false // BROKER-FACTS 15
	}
	b.enqueue(q, p)
	return true
}

// enqueue puts a message into a queue. A consumer that can take it gets it before length and expiry
// are looked at.
func (b *Broker) enqueue(q *queue, p publication) {
	m := message{position: q.next, id: p.id, deadline: b.deadline(q, p)}
	if p.flags.Has(amqp.Persistent) {
		m.mark = persistent
	}
	q.next++
	q.ready.push(m)
	b.serve(q, p.queue)
	q.trim()
	q.ready.dropExpired(b.now)
}

// deadline is when a message expires: the earlier of the queue's time and its own.
func (b *Broker) deadline(q *queue, p publication) int64 {
	d := int64(never)
	if q.args.Has&amqp.HasMessageTTL != 0 {
		d = b.now + int64(q.args.MessageTTL)
	}
	if p.flags.Has(amqp.Expiring) {
		d = min(d, b.now+int64(p.expiration))
	}
	return d
}

// overflows reports whether so many messages more are too many.
func (q *queue) overflows(more int) bool {
	return q.args.Has&amqp.HasMaxLength != 0 && q.ready.depth+more > int(q.args.MaxLength)
}

// trim drops from the head what is beyond the maximum length (BROKER-FACTS 14 and 26).
func (q *queue) trim() {
	if q.args.Overflow == amqp.RejectPublish {
		return
	}
	for q.overflows(0) {
		q.ready.pop()
	}
}
