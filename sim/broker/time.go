package broker

import "github.com/lockproof/lockproof/model/amqp"

// Now is the virtual time in milliseconds. It begins at 0 and moves by [Broker.Advance] only.
func (b *Broker) Now() int64 { return b.now }

// Advance lets time pass: messages expire (x-message-ttl, expiration) and queues do (x-expires).
func (b *Broker) Advance(ms int64) {
	to := b.now + ms
	for {
		next, any := b.NextTimer()
		if !any || next > to {
			break
		}
		b.now = next
		for id := range b.queues {
			b.expire(amqp.Queue(id))
		}
		b.forwardDead()
	}
	b.now = to
}

// NextTimer is the earliest moment at which [Broker.Advance] changes something, if there is one.
func (b *Broker) NextTimer() (int64, bool) {
	next := int64(never)
	for i := range b.queues {
		if q := &b.queues[i]; q.exists {
			next = min(next, q.expires())
			next = min(next, q.due())
		}
	}
	return next, next != never
}

// expire does what is due to a queue now.
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

// due is when the first message expires, or the queue looks for that.
func (q *queue) due() int64 {
	switch {
	case q.args.Has&amqp.HasMaxPriority != 0 && q.wake != 0:
		return q.wake
	case q.args.Has&amqp.HasMaxPriority != 0, q.ready.depth == 0:
		return never
	}
	return q.ready.front().deadline
}

// expires is when a queue is deleted for not being used: x-expires after its last use, unless it has
// consumers.
func (q *queue) expires() int64 {
	if q.args.Has&amqp.HasExpires == 0 || len(q.consumers) > 0 {
		return never
	}
	return q.used + int64(q.args.Expires)
}

// touch is a use of the queue, in the sense of x-expires. Publishing is none (BROKER-FACTS 17).
func (b *Broker) touch(q *queue) { q.used = b.now }
