package broker

import "github.com/lockproof/lockproof/model/amqp"

// queue is a queue of the broker. If it does not exist, its entry is free.
type queue struct {
	queueRecord
	ready     backlog
	consumers []consumer
	dead      *deadLetters // where the queue's dead letters go; nil if nowhere
}

// queueRecord has the fields of a queue that have a fixed size. It is zero if the queue does not exist.
type queueRecord struct {
	properties
	exists   bool
	used     int64  // time of the queue's last use, which x-expires refers to
	next     uint64 // position of the next published message
	returned uint64 // position of the next message that returns to the head; only of a quorum queue
	unacked  int    // number of messages that were delivered and not acknowledged
	wake     int64  // time at which a queue with priorities checks for expired messages; 0 means never
}

// properties are those with which a queue was declared. Declaring it again requires the same properties.
type properties struct {
	durable    bool
	autoDelete bool
	owner      Conn // connection that owns the queue exclusively; 0 means none
	args       amqp.Arguments
}

func (q *queue) reset() {
	q.queueRecord = queueRecord{}
	q.ready.reset()
	q.consumers = q.consumers[:0]
	q.dead = nil
}

// counted returns a reply with the numbers of messages and consumers of a queue.
func (b *Broker) counted(id amqp.Queue) amqp.Reply {
	q := &b.queues[id]
	consumers := len(q.consumers)
	if q.quorum() {
		consumers = b.occupants(id)
	}
	return amqp.Reply{Kind: amqp.OK, Messages: uint32(q.ready.depth), Consumers: uint32(consumers)}
}

// place returns the entry of a queue, which may not exist. The pointer is valid until a new name is used.
func (b *Broker) place(id amqp.Queue) *queue {
	if int(id) >= len(b.queues) {
		b.queues = grow(b.queues, max(int(id), b.names.Len())+1)
	}
	return &b.queues[id]
}

// accessible returns a queue, or the error code for a connection that may not use it. A command on another connection's
// exclusive queue is refused with 405, except queue.declare and basic.publish (FACTS B3 and B4). A missing queue is
// refused with 404 (FACTS B8).
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

// drop deletes a queue with its messages. Acknowledging a message that was delivered from it then has no effect. Its
// consumers are notified that they are cancelled.
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

// cancelConsumers notifies the consumers of a queue that it is deleted.
func (b *Broker) cancelConsumers(q *queue) {
	for i := range q.consumers {
		c := &q.consumers[i]
		b.send(&b.conns[c.on.conn-1], amqp.Delivery{Channel: c.on.number, Consumer: c.number, Cancelled: true})
	}
}

// detach separates unacknowledged messages from a queue that is being deleted. A later queue with the same name then
// has nothing to do with them. RabbitMQ 3.10.8 differs, probably by mistake: it identifies a message by the name of its
// queue and its position, so an acknowledgement may remove a message of the later queue.
func (b *Broker) detach(id amqp.Queue) {
	for i := range b.conns {
		for n := range b.conns[i].channels {
			ch := &b.conns[i].channels[n]
			b.reached = b.reached || len(ch.unacked)+len(ch.tx.settled) > 0
			ch.forget(id)
		}
	}
}
