package broker

import "maps"

// CopyFrom makes the broker equal to another, reusing its own memory.
func (b *Broker) CopyFrom(o *Broker) {
	b.names, b.opts, b.now, b.timed, b.awaits = o.names, o.opts, o.now, o.timed, o.awaits
	b.queues = grow(b.queues, len(o.queues))
	for i := range o.queues {
		b.queues[i].copyFrom(&o.queues[i])
	}
	for i := len(o.queues); i < len(b.queues); i++ {
		b.queues[i].reset()
	}
	b.gone = refill(b.gone, o.gone)
	b.conns = grow(b.conns, len(o.conns))
	for i := range o.conns {
		b.conns[i].copyFrom(&o.conns[i])
	}
	for i := len(o.conns); i < len(b.conns); i++ {
		b.conns[i].reset()
	}
	b.copyRouting(o)
	b.copyMail(o)
}

func (q *queue) copyFrom(o *queue) {
	if !o.exists {
		if q.exists {
			q.reset()
		}
		return
	}
	q.queueRecord = o.queueRecord
	q.ready.copyFrom(&o.ready)
	q.consumers = refill(q.consumers, o.consumers)
	q.dead = o.dead
}

func (l *backlog) copyFrom(o *backlog) {
	l.runs = refill(l.runs, o.runs[o.head:])
	l.head, l.depth = 0, o.depth
}

func (c *connection) copyFrom(o *connection) {
	if !o.alive {
		if c.alive {
			c.reset()
		}
		return
	}
	c.alive = true
	c.outbox = refill(c.outbox, o.outbox)
	c.channels = grow(c.channels, len(o.channels))
	for i := range o.channels {
		c.channels[i].copyFrom(&o.channels[i])
	}
	for i := len(o.channels); i < len(c.channels); i++ {
		c.channels[i].reset(closed, 0)
	}
}

func (ch *channel) copyFrom(o *channel) {
	ch.channelRecord = o.channelRecord
	ch.unacked = refill(ch.unacked, o.unacked)
	ch.tx.copyFrom(&o.tx)
}

func (tx *transaction) copyFrom(o *transaction) {
	tx.publishes = refill(tx.publishes, o.publishes)
	tx.settled = refill(tx.settled, o.settled)
}

// copyMail makes the dead letters equal to another broker's.
func (b *Broker) copyMail(o *Broker) {
	b.mail = nil
	if o.mail != nil {
		m := b.post()
		m.letters, m.free, m.limit = refill(m.letters, o.mail.letters), refill(m.free, o.mail.free), o.mail.limit
		maps.Copy(m.numbers, o.mail.numbers)
	}
}

// copyRouting makes the exchanges and bindings equal to another broker's.
func (b *Broker) copyRouting(o *Broker) {
	switch {
	case o.routing != nil:
		r := b.routes()
		r.exchanges, r.bindings = refill(r.exchanges, o.routing.exchanges), refill(r.bindings, o.routing.bindings)
	case b.routing != nil:
		b.routing.reset()
	}
}

// refill copies the elements of a slice (from) into the memory of another (s), and returns the copy.
func refill[E any](s, from []E) []E {
	if len(s)+len(from) == 0 {
		return s
	}
	return append(s[:0], from...)
}
