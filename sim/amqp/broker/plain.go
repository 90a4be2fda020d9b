package broker

// Plain reports whether the broker has only queues and connections. It has no messages, consumers, transactions,
// exchanges or bindings of clients, and nothing that expires. Its state is then given by the declarations and owners of
// its queues.
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

// plain reports whether a connection has no delivery to receive, no message to acknowledge and no transaction to
// commit.
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
