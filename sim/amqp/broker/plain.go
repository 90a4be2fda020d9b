package broker

// Plain reports whether the broker has nothing but queues and connections: no messages, consumers, transactions, exchanges or
// bindings of clients', and nothing that ever expires. How its queues were declared, and whose they are, is then all its state.
func (b *Broker) Plain() bool {
	if b.timed || b.mail != nil || b.routing != nil && len(b.routing.exchanges)+len(b.routing.bindings) > 0 {
		return false
	}
	for i := range b.queues {
		if q := &b.queues[i]; q.exists && (q.ready.depth+q.unacked > 0 || len(q.consumers) > 0 || q.dead != nil) {
			return false
		}
	}
	for i := range b.conns {
		if c := &b.conns[i]; c.alive && !c.plain() {
			return false
		}
	}
	return true
}

// plain reports whether nothing is to be sent to a connection, and it has nothing to acknowledge or commit.
func (c *connection) plain() bool {
	if len(c.outbox) > 0 {
		return false
	}
	for i := range c.channels {
		if ch := &c.channels[i]; len(ch.unacked)+len(ch.tx.publishes)+len(ch.tx.settled) > 0 {
			return false
		}
	}
	return true
}
