package broker

import (
	"iter"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// Held is a message of a queue. It is ready, or it was delivered to a channel that has not acknowledged it.
type Held struct {
	Message uint64
	Conn    Conn // connection that has the message; 0 if the message is ready
	Channel uint16
	Tag     uint64 // delivery tag on the channel
}

// Messages yields the messages of a queue: first the ready ones in order, then those that were delivered to channels.
func (b *Broker) Messages(id amqp.Queue) iter.Seq[Held] {
	return func(yield func(Held) bool) {
		if !b.Exists(id) {
			return
		}
		q := &b.queues[id]
		for _, r := range q.ready.runs[q.ready.head:] {
			for range r.count {
				if !yield(Held{Message: r.id}) {
					return
				}
			}
		}
		if q.unacked > 0 {
			b.delivered(id, yield)
		}
	}
}

// delivered yields the messages of a queue that channels have not acknowledged, including those that an open
// transaction will settle.
func (b *Broker) delivered(id amqp.Queue, yield func(Held) bool) {
	for c := range b.conns {
		for n := range b.conns[c].channels {
			ch := &b.conns[c].channels[n]
			for _, set := range [][]delivered{ch.unacked, ch.tx.settled} {
				for i := range set {
					if set[i].queue == id && !yield(Held{set[i].id, Conn(c + 1), uint16(n), set[i].tag}) {
						return
					}
				}
			}
		}
	}
}

// Consumer describes a consumer of a queue.
type Consumer struct {
	Conn      Conn
	Channel   uint16
	Exclusive bool
	Single    bool // its queue has a single active consumer
	Waits     bool // another consumer is the active one
}

// Consumers yields the consumers of a queue.
func (b *Broker) Consumers(id amqp.Queue) iter.Seq[Consumer] {
	return func(yield func(Consumer) bool) {
		if !b.Exists(id) {
			return
		}
		single := b.queues[id].singleActive()
		for _, c := range b.queues[id].consumers {
			if !yield(Consumer{c.on.conn, c.on.number, c.exclusive, single, single && !c.active}) {
				return
			}
		}
	}
}

// Holds reports whether a connection has a consumer or an unacknowledged message.
func (b *Broker) Holds(conn Conn) bool {
	if !b.Alive(conn) {
		return false
	}
	for i := range b.queues {
		if slices.ContainsFunc(b.queues[i].consumers, func(c consumer) bool { return c.on.conn == conn }) {
			return true
		}
	}
	return slices.ContainsFunc(b.conns[conn-1].channels, func(ch channel) bool { return len(ch.unacked)+len(ch.tx.settled) > 0 })
}
