package broker

import "github.com/lockproof/lockproof/model/amqp"

// Conn is the number of a connection. 0 is none.
type Conn uint16

// connection is an existing connection, or an unused entry.
type connection struct {
	alive    bool
	channels []channel // by number
	outbox   []amqp.Delivery
}

func (c *connection) reset() {
	c.alive = false
	c.outbox = c.outbox[:0]
	for i := range c.channels {
		c.channels[i].reset(closed, 0)
	}
}

// Connect opens a connection and returns its number, the lowest free one.
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

// Alive reports whether the broker has the connection.
func (b *Broker) Alive(c Conn) bool {
	return c > 0 && int(c) <= len(b.conns) && b.conns[c-1].alive
}

// Disconnect is the end of a connection as the broker sees it, by a close, a closed socket or a missed heartbeat. Its
// channels end, their unacknowledged messages are requeued, and its exclusive queues are deleted (FACTS B11, B12 and
// B20).
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

// endConnection answers a command with a connection error.
func (b *Broker) endConnection(c Conn, code amqp.Code) amqp.Reply {
	b.Disconnect(c)
	return amqp.Reply{Kind: amqp.ConnectionClosed, Code: code}
}

// Deliveries appends to buf what was sent to the consumers of a connection since the last call.
func (b *Broker) Deliveries(c Conn, buf []amqp.Delivery) []amqp.Delivery {
	if !b.Alive(c) {
		return buf
	}
	conn := &b.conns[c-1]
	buf = append(buf, conn.outbox...)
	conn.outbox = conn.outbox[:0]
	return buf
}

// Undelivered reports whether something was sent to the consumers of a connection since the last call of Deliveries.
func (b *Broker) Undelivered(c Conn) bool { return b.Alive(c) && len(b.conns[c-1].outbox) > 0 }

// Delivery is the first delivery that Deliveries would append.
func (b *Broker) Delivery(c Conn) (d amqp.Delivery, any bool) {
	if !b.Undelivered(c) {
		return d, false
	}
	conn := &b.conns[c-1]
	d = conn.outbox[0]
	conn.outbox = conn.outbox[:copy(conn.outbox, conn.outbox[1:])]
	return d, true
}

// grow makes a slice of entries long enough. Entries are never removed, so that their memory is reused.
func grow[E any](s []E, n int) []E {
	if n > len(s) {
		s = append(s, make([]E, n-len(s))...)
	}
	return s
}
