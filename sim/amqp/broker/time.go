package broker

import "github.com/lockproof/lockproof/model/amqp"

// Now returns the virtual time in milliseconds. It begins at 0, and only [Broker.Advance] changes it.
func (b *Broker) Now() int64 { return b.now }

// Advance lets ms milliseconds pass. Messages expire (x-message-ttl, expiration), queues expire (x-expires), and
// channels that acknowledge too late are closed (consumer_timeout). It reports whether anything changed.
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

// NextTimer returns the next time at which [Broker.Advance] changes something, and whether there is such a time.
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

// nextLate returns the time at which the next channel is closed because it acknowledges too late.
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

// closeLate closes the channels that have acknowledged too late, whether a consumer or basic.get received the message
// (FACTS C15).
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

// Late returns the number of channels that were closed because they acknowledged too late.
func (b *Broker) Late() int { return b.late }

// expire drops a queue's messages that have expired, and deletes the queue if it has expired.
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

// due returns the time at which the first message of a queue expires, or at which the queue checks for expired
// messages.
func (q *queue) due() int64 {
	switch {
	case q.args.Has&amqp.HasMaxPriority != 0 && q.wake != 0:
		return q.wake
	case q.args.Has&amqp.HasMaxPriority != 0, q.ready.depth == 0:
		return never
	}
	return q.ready.front().deadline
}

// expires returns the time at which an unused queue is deleted: x-expires after its last use. A queue with consumers is
// never deleted so.
func (q *queue) expires() int64 {
	if q.args.Has&amqp.HasExpires == 0 || len(q.consumers) > 0 {
		return never
	}
	return q.used + int64(q.args.Expires)
}

// touch records a use of the queue, which postpones its deletion by x-expires. Publishing is not a use (FACTS B17).
func (b *Broker) touch(q *queue) { q.used = b.now }
