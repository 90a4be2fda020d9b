package broker

import "github.com/lockproof/lockproof/model/amqp"

// Now is the virtual time in milliseconds. It begins at 0; only [Broker.Advance] changes it.
func (b *Broker) Now() int64 { return b.now }

// Advance lets time pass: messages expire (x-message-ttl, expiration), queues expire (x-expires), and channels that
// acknowledge too late are closed (consumer_timeout). It reports whether anything changed.
func (b *Broker) Advance(ms int64) (changed bool) {
	to := b.now + ms
	for {
		next, any := b.NextTimer()
		if !any || next > to {
			break
		}
		b.now, changed = next, true
		for id := range b.queues {
			b.expire(amqp.Queue(id))
		}
		if b.opts.ConsumerTimeout > 0 {
			b.closeLate()
		}
		if b.mail != nil {
			b.forwardDead()
		}
	}
	b.now = to
	return changed
}

// NextTimer is the next time at which [Broker.Advance] changes something, and whether there is one.
func (b *Broker) NextTimer() (int64, bool) {
	next := int64(never)
	if b.timed {
		for i := range b.queues {
			if q := &b.queues[i]; q.exists {
				next = min(next, q.expires())
				next = min(next, q.due())
			}
		}
	}
	if b.awaits && b.opts.ConsumerTimeout > 0 {
		late := b.nextLate()
		next, b.awaits = min(next, late), late != never
	}
	return next, next != never
}

// nextLate is the time at which the next channel is closed for acknowledging too late.
func (b *Broker) nextLate() int64 {
	next := int64(never)
	for i := range b.conns {
		for n := range b.conns[i].channels {
			if ch := &b.conns[i].channels[n]; len(ch.unacked) > 0 {
				next = min(next, ch.unacked[0].since+b.opts.ConsumerTimeout)
			}
		}
	}
	return next
}

// closeLate closes channels that acknowledge too late, however they received the message (FACTS C15).
func (b *Broker) closeLate() {
	for i := range b.conns {
		for n := range b.conns[i].channels {
			ch := &b.conns[i].channels[n]
			if len(ch.unacked) > 0 && ch.unacked[0].since+b.opts.ConsumerTimeout <= b.now {
				b.endChannel(at{Conn(i + 1), uint16(n)}, broken, amqp.PreconditionFailed)
				b.late++
			}
		}
	}
}

// Late is the number of channels that were closed for acknowledging too late.
func (b *Broker) Late() int { return b.late }

// expire carries out what is due for a queue now.
func (b *Broker) expire(id amqp.Queue) {
	q := &b.queues[id]
	switch {
	case !q.exists:
	case q.expires() <= b.now:
		b.drop(id)
	case q.due() <= b.now:
		q.wake = 0
		b.dropExpired(q, id)
	}
}

// due is the time at which the first message expires, or at which the queue checks for this.
func (q *queue) due() int64 {
	switch {
	case q.args.Has&amqp.HasMaxPriority != 0 && q.wake != 0:
		return q.wake
	case q.args.Has&amqp.HasMaxPriority != 0, q.ready.depth == 0:
		return never
	}
	return q.ready.front().deadline
}

// expires is the time at which an unused queue is deleted: x-expires after its last use, unless it has consumers.
func (q *queue) expires() int64 {
	if q.args.Has&amqp.HasExpires == 0 || len(q.consumers) > 0 {
		return never
	}
	return q.used + int64(q.args.Expires)
}

// touch notes a use of the queue, in the sense of x-expires. Publishing does not count as use (FACTS B17).
func (b *Broker) touch(q *queue) { q.used = b.now }
