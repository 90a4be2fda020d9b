package broker

import (
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/codec"
)

// The encoded state of a broker has a shared part and one part for each connection, so that a search can store each
// part only once. Exchanges, bindings, message priorities, dead letters and quorum queues cannot be encoded, since the
// reference locks use none of them.

// CodeCommon writes or reads the shared part: the queues that no connection owns exclusively and, if they matter, the
// numbers of deleted queues. The broker that reads must have no queues.
func (b *Broker) CodeCommon(c *codec.Coder) {
	if b.mail != nil {
		panic("broker: dead letters are not stored")
	}
	if b.routing != nil && len(b.routing.exchanges)+len(b.routing.bindings) > 0 {
		panic("broker: exchanges and bindings are not stored")
	}
	b.codeQueues(c, 0)
	if b.opts.RoutedAtPublish {
		b.codeGone(c)
	}
}

// codeGone writes or reads, for each name, how many queues with this name were deleted.
func (b *Broker) codeGone(c *codec.Coder) {
	n := len(b.gone)
	for n > 0 && b.gone[n-1] == 0 {
		n--
	}
	n = codec.Length(c, n)
	b.gone = grow(b.gone, n)
	for i := range b.gone[:n] {
		codec.Number(c, &b.gone[i])
	}
}

// CodeConnection writes or reads a connection with its channels and exclusive queues. The broker that reads must not
// have this connection.
func (b *Broker) CodeConnection(c *codec.Coder, conn Conn) {
	for int(conn) > len(b.conns) {
		b.conns = append(b.conns, connection{})
	}
	b.conns[conn-1].alive = true
	b.codeChannels(c, conn)
	b.codeQueues(c, conn)
}

// CodeOwned writes the exclusive queues of a connection.
func (b *Broker) CodeOwned(c *codec.Coder, conn Conn) { b.codeQueues(c, conn) }

// Owns reports whether a connection has exclusive queues.
func (b *Broker) Owns(conn Conn) bool {
	for i := range b.queues {
		if b.queues[i].exists && b.queues[i].owner == conn {
			return true
		}
	}
	return false
}

func (b *Broker) codeChannels(c *codec.Coder, conn Conn) {
	channels := b.conns[conn-1].channels
	for n := codec.Length(c, opened(channels)); n > 0; n-- {
		number := n
		if !c.Reading() {
			number = nthOpen(channels, n)
		}
		codec.Number(c, &number)
		b.conns[conn-1].channels = grow(b.conns[conn-1].channels, number+1)
		b.codeChannel(c, at{conn, uint16(number)})
	}
}

// opened returns the number of channels that are open or closed by the broker.
func opened(channels []channel) (n int) {
	for i := range channels {
		if channels[i].state != closed {
			n++
		}
	}
	return n
}

// nthOpen returns the number of the n-th channel, from 1, that is open or closed by the broker.
func nthOpen(channels []channel, n int) int {
	for i := range channels {
		if channels[i].state == closed {
			continue
		}
		if n--; n == 0 {
			return i
		}
	}
	panic("broker: no such channel")
}

func (b *Broker) codeChannel(c *codec.Coder, on at) {
	ch := &b.conns[on.conn-1].channels[on.number]
	codec.Byte(c, &ch.state)
	mode := ch.mode
	if !c.Reading() && b.consumesAny(on) {
		mode |= consuming
	}
	codec.Byte(c, &mode)
	ch.mode = mode &^ consuming
	codec.Number(c, &ch.code)
	codec.Number(c, &ch.prefetch)
	codec.Number(c, &ch.returned)
	codec.Number(c, &ch.tag)
	n := codec.Length(c, len(ch.tx.publishes))
	if c.Reading() {
		ch.tx.publishes = append(ch.tx.publishes[:0], make([]publication, n)...)
	}
	for i := range ch.tx.publishes {
		p := &ch.tx.publishes[i]
		if p.priority > 0 {
			panic("broker: priorities are not stored")
		}
		codec.Number(c, &p.queue)
		codec.Number(c, &p.flags)
		codec.Number(c, &p.expiration)
		codec.Number(c, &p.id)
		codec.Number(c, &p.dest)
	}
	if mode&consuming != 0 {
		b.codeConsumption(c, on)
	}
}

// codeQueues writes or reads the queues of one owner; owner 0 stands for queues without one.
func (b *Broker) codeQueues(c *codec.Coder, owner Conn) {
	if !c.Reading() {
		for id := range b.queues {
			if q := &b.queues[id]; q.exists && q.owner == owner {
				codec.Number(c, &id)
				b.codeQueue(c, amqp.Queue(id), q)
			}
		}
		none := 0
		codec.Number(c, &none)
		return
	}
	for {
		var id amqp.Queue
		if codec.Number(c, &id); id == 0 {
			return
		}
		q := b.place(id)
		q.exists, q.owner = true, owner
		b.codeQueue(c, id, q)
	}
}

func (b *Broker) codeQueue(c *codec.Coder, id amqp.Queue, q *queue) {
	if q.args.Has&(amqp.HasMaxPriority|amqp.HasDeadLetterExchange|amqp.Quorum) != 0 {
		panic("broker: a quorum queue, and one with priorities or dead letters, is not stored")
	}
	held := q.unacked > 0
	codec.Bools(c, &q.durable, &q.autoDelete, &held)
	codec.Number(c, &q.args.Has)
	if q.args.Has != 0 {
		codec.Byte(c, &q.args.Overflow)
		codec.Number(c, &q.args.MaxLength)
		codec.Number(c, &q.args.Expires)
		codec.Number(c, &q.args.MessageTTL)
	}
	if q.args.Has&amqp.HasExpires != 0 {
		idle := b.now - q.used
		codec.Number(c, &idle)
		q.used, b.timed = b.now-idle, true
	}
	b.codeBacklog(c, id, q, held)
}

// codeBacklog writes or reads the ready messages of a queue. It writes equal neighbours as one run, so that equal
// states have equal codes. Two messages are no neighbours if a message that a channel holds may return between them.
func (b *Broker) codeBacklog(c *codec.Coder, id amqp.Queue, q *queue, held bool) {
	l := &q.ready
	if !c.Reading() {
		runs := l.runs[l.head:]
		for i := 0; i < len(runs); {
			r := runs[i]
			end := r.end()
			for i++; i < len(runs) && runs[i].alike(&r.message) && !(held && b.between(id, end, runs[i].position)); i++ {
				r.count += runs[i].count
				end = runs[i].end()
			}
			b.codeRun(c, &r)
			if held {
				ahead := b.ahead(&delivered{message: r.message, queue: id})
				codec.Number(c, &ahead)
			}
		}
		var last run
		b.codeRun(c, &last)
		return
	}
	l.reset()
	for next := uint64(0); ; {
		r := run{message: message{position: next}}
		if b.codeRun(c, &r); r.count == 0 {
			return
		}
		if held {
			codec.Number(c, &r.position)
		}
		l.runs = append(l.runs, r)
		l.depth += int(r.count)
		next = r.end()
		q.next = max(q.next, next)
	}
}

// between reports whether a channel holds a message of a queue whose position is from or later, and before to.
func (b *Broker) between(id amqp.Queue, from, to uint64) bool {
	if from == to {
		return false
	}
	for i := range b.conns {
		for k := range b.conns[i].channels {
			ch := &b.conns[i].channels[k]
			for _, set := range [][]delivered{ch.unacked, ch.tx.settled} {
				if slices.ContainsFunc(set, func(d delivered) bool { return d.queue == id && from <= d.position && d.position < to }) {
					return true
				}
			}
		}
	}
	return false
}

// alike reports whether two messages differ only in their positions.
func (m *message) alike(o *message) bool {
	return m.id == o.id && m.mark == o.mark && m.deadline == o.deadline && m.deliveries == o.deliveries
}

func (b *Broker) codeRun(c *codec.Coder, r *run) {
	if codec.Number(c, &r.count); r.count == 0 {
		return
	}
	codec.Number(c, &r.id)
	codec.Byte(c, &r.mark)
	b.codeDeadline(c, &r.deadline)
}

// codeDeadline writes or reads a deadline as the remaining milliseconds.
func (b *Broker) codeDeadline(c *codec.Coder, deadline *int64) {
	left := int64(0) // remaining milliseconds plus 1; 0 means that it never expires
	if *deadline != never {
		left = max(*deadline-b.now, 0) + 1
	}
	codec.Number(c, &left)
	switch {
	case !c.Reading():
	case left > 0:
		*deadline, b.timed = b.now+left-1, true
	default:
		*deadline = never
	}
}
