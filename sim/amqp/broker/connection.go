package broker

import "github.com/lockproof/lockproof/model/amqp"

// Conn is the number of a connection, from 1; 0 means none.
type Conn uint16

// connection is a connection. If it is not alive, its entry is free.
type connection struct {
	alive    bool
	channels []channel // indexed by the channel's number
	outbox   []amqp.Delivery
}

func (c *connection) reset() {
	c.alive = false
	c.outbox = c.outbox[:0]
	for i := range c.channels {
		c.channels[i].reset(closed, 0)
	}
}

// Connect opens a connection and returns its number, which is the lowest free one.
func (b *Broker) Connect() Conn {
	for i := range b.conns {
		if !b.conns[i].alive {
			b.conns[i].alive = true
			return Conn(i + 1)
		}
	}
	b.conns = append(b.conns, connection{alive: true})
	return Conn(len(b.conns))
}

// Alive reports whether connection c exists on the broker.
func (b *Broker) Alive(c Conn) bool {
	return c > 0 && int(c) <= len(b.conns) && b.conns[c-1].alive
}

// Disconnect ends a connection, as after a close, a closed socket or a missed heartbeat. Its channels end, their
// unacknowledged messages are requeued, and its exclusive queues are deleted (FACTS B11, B12 and B20).
func (b *Broker) Disconnect(c Conn) {
	if !b.Alive(c) {
		return
	}
	succeeded := b.dropConsumersOf(c)
	for n := range b.conns[c-1].channels {
		b.requeueAll(at{c, uint16(n)})
	}
	for q := range b.queues {
		if b.queues[q].owner == c {
			b.drop(amqp.Queue(q))
		}
	}
	b.conns[c-1].reset()
	b.serveSuccessors(succeeded)
	if b.mail != nil {
		b.forwardDead()
	}
}

// endConnection closes a connection with an error code, and returns this as the reply.
func (b *Broker) endConnection(c Conn, code amqp.Code) amqp.Reply {
	b.Disconnect(c)
	return amqp.Reply{Kind: amqp.ConnectionClosed, Code: code}
}

// Deliveries appends to buf what the broker has sent to the consumers of a connection since the last call.
func (b *Broker) Deliveries(c Conn, buf []amqp.Delivery) []amqp.Delivery {
	if !b.Alive(c) {
		return buf
	}
	conn := &b.conns[c-1]
	buf = append(buf, conn.outbox...)
	conn.outbox = conn.outbox[:0]
	return buf
}

// send sends something to a consumer of a connection.
func (b *Broker) send(conn *connection, d amqp.Delivery) {
	b.reached = true
	conn.outbox = append(conn.outbox, d)
}

// Reached reports whether, since the last call, a message has stayed in a queue, something was sent to a consumer, or a
// queue with unacknowledged messages was deleted. The queue, the consumer or the channel with the messages may belong to
// a connection other than that of the command.
func (b *Broker) Reached() bool {
	reached := b.reached
	b.reached = false
	return reached
}

// Undelivered reports whether Deliveries would append anything.
func (b *Broker) Undelivered(c Conn) bool { return b.Alive(c) && len(b.conns[c-1].outbox) > 0 }

// Delivery returns the first delivery that Deliveries would append, and whether there is any.
func (b *Broker) Delivery(c Conn) (d amqp.Delivery, any bool) {
	if !b.Undelivered(c) {
		return d, false
	}
	conn := &b.conns[c-1]
	d = conn.outbox[0]
	conn.outbox = conn.outbox[:copy(conn.outbox, conn.outbox[1:])]
	return d, true
}

// grow returns s, extended to at least n entries. Entries are never removed, so that their memory is reused.
func grow[E any](s []E, n int) []E {
	if n > len(s) {
		s = append(s, make([]E, n-len(s))...)
	}
	return s
}
