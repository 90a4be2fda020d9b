package broker

import "github.com/lockproof/lockproof/model/amqp"

// queue is an existing queue, or an unused entry.
type queue struct {
	queueRecord
	ready     backlog
	consumers []consumer
	dead      *deadLetters // if it has any
}

// queueRecord is the part of a queue that has a fixed size. It is zero if there is no queue.
type queueRecord struct {
	properties
	exists   bool
	used     int64  // time of its last use, in the sense of x-expires
	next     uint64 // position of the next message
	returned uint64 // position of the next message that returns to the head of a quorum queue
	unacked  int    // number of messages delivered and not acknowledged
	wake     int64  // time at which a queue with priorities checks for expired messages; 0 is never
}

// properties are those with which a queue was declared. A later declaration must have the same.
type properties struct {
	durable    bool
	autoDelete bool
	owner      Conn // its exclusive owner; 0 is none
	args       amqp.Arguments
}

func (q *queue) reset() {
	q.queueRecord = queueRecord{}
	q.ready.reset()
	q.consumers = q.consumers[:0]
	q.dead = nil
}

// counted is a reply with a queue's counters.
func (b *Broker) counted(id amqp.Queue) amqp.Reply {
	q := &b.queues[id]
	consumers := len(q.consumers)
	if q.quorum() {
		consumers = b.occupants(id)
	}
	return amqp.Reply{Kind: amqp.OK, Messages: uint32(q.ready.depth), Consumers: uint32(consumers)}
}

// place is the entry of a queue, existing or not. The pointer is valid until a new name is used.
func (b *Broker) place(id amqp.Queue) *queue {
	if int(id) >= len(b.queues) {
		b.queues = grow(b.queues, max(int(id), b.names.Len())+1)
	}
	return &b.queues[id]
}

// accessible looks up a queue for a connection. On another connection's exclusive queue, every command other than a
// declare or a publish is refused with 405 (FACTS B3 and B4). A missing queue is 404 (FACTS B8).
func (b *Broker) accessible(c Conn, id amqp.Queue) (*queue, amqp.Code) {
	q := b.place(id)
	switch {
	case !q.exists:
		return nil, amqp.NotFound
	case q.owner != 0 && q.owner != c:
		return nil, amqp.ResourceLocked
	}
	return q, 0
}

// drop deletes a queue with its contents. Acknowledging its delivered messages then has no effect, and its consumers
// are told that they are cancelled.
func (b *Broker) drop(id amqp.Queue) {
	q := &b.queues[id]
	if len(q.consumers) > 0 {
		b.cancelConsumers(q)
	}
	if q.unacked > 0 {
		b.detach(id)
	}
	q.reset()
	if b.opts.RoutedAtPublish {
		b.gone = grow(b.gone, int(id)+1)
		b.gone[id]++
	}
	if b.routing != nil {
		b.routing.unbindAll(func(x *binding) bool { return x.queue == id })
	}
}

// cancelConsumers tells the consumers of a queue that it is deleted.
func (b *Broker) cancelConsumers(q *queue) {
	for i := range q.consumers {
		c := &q.consumers[i]
		conn := &b.conns[c.on.conn-1]
		conn.outbox = append(conn.outbox, amqp.Delivery{Channel: c.on.number, Consumer: c.number, Cancelled: true})
	}
}

// detach detaches unacknowledged messages from a queue that is being deleted, so that they have nothing to do with a
// later queue of the same name. RabbitMQ 3.10.8 differs, probably by mistake: it identifies a message by its queue's
// name and its position, so an acknowledgement may remove a message of the later queue.
func (b *Broker) detach(id amqp.Queue) {
	for i := range b.conns {
		for n := range b.conns[i].channels {
			b.conns[i].channels[n].forget(id)
		}
	}
}
