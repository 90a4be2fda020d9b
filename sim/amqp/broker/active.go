package broker

import (
	"cmp"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// singleActive reports whether the queue has a single active consumer: only this one is sent messages, and the other
// consumers wait for its end.
func (q *queue) singleActive() bool { return q.args.Has&amqp.SingleActive != 0 }

// active returns the index of the active consumer; -1 if there is none.
func (q *queue) active() int {
	return slices.IndexFunc(q.consumers, func(c consumer) bool { return c.active })
}

// succeed makes the first consumer the active one, if there is no active consumer.
func (q *queue) succeed() {
	if len(q.consumers) > 0 && q.active() < 0 {
		q.consumers[0].active = true
	}
}

// serveSuccessors delivers ready messages to the new active consumers of the queues.
func (b *Broker) serveSuccessors(queues []amqp.Queue) {
	for _, id := range queues {
		b.serve(&b.queues[id], id)
	}
}

// unserved reports whether a queue has ready messages that its active consumer could take. This is so after a cancel
// has made the consumer active, until the queue next serves its consumers.
func (q *queue) unserved() bool {
	i := q.active()
	return q.ready.depth > 0 && i >= 0 && !q.consumers[i].blocked
}

// overtake handles a message that is published while ready messages wait for the active consumer: it is delivered
// first, or the queue crashes; see [Options]. accepted reports whether the queue accepts the message.
func (b *Broker) overtake(q *queue, p *publication) (accepted bool) {
	c := q.consumers[q.active()]
	if !c.noAck {
		b.crash(p.queue)
		return !q.durable || !p.flags.Has(amqp.Persistent) // it confirms only what it need not store
	}
	conn := &b.conns[c.on.conn-1]
	ch := &conn.channels[c.on.number]
	ch.tag++
	b.send(conn, amqp.Delivery{Channel: c.on.number, Consumer: c.number, Tag: ch.tag, Message: p.id})
	return true
}

// crash lets a queue crash and restart. A durable queue keeps its persistent messages. The queue loses its consumers.
func (b *Broker) crash(id amqp.Queue) {
	q := &b.queues[id]
	kept := q.queueRecord
	var messages []message
	if q.durable {
		messages = b.persistent(id)
	}
	b.cancelConsumers(q)
	b.detach(id)
	q.reset()
	q.queueRecord, q.unacked = kept, 0
	for _, m := range messages {
		m.mark |= redelivered
		q.ready.push(m)
	}
	b.touch(q)
}

// persistent returns the persistent messages of a queue in order, delivered or not.
func (b *Broker) persistent(id amqp.Queue) (all []message) {
	keep := func(m message) {
		if m.mark&persistent != 0 {
			all = append(all, m)
		}
	}
	l := &b.queues[id].ready
	for _, r := range l.runs[l.head:] {
		for ; r.count > 0; r.count-- {
			keep(r.message)
			r.position++
		}
	}
	for i := range b.conns {
		for n := range b.conns[i].channels {
			ch := &b.conns[i].channels[n]
			for _, d := range slices.Concat(ch.unacked, ch.tx.settled) {
				if d.queue == id {
					keep(d.message)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b message) int { return cmp.Compare(a.position, b.position) })
	return all
}
