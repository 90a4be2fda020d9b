package broker

import "github.com/lockproof/lockproof/model/amqp"

// publish answers basic.publish. In confirm mode the reply is the confirm; a mandatory message that reaches no queue is
// returned before (FACTS B1). In a transaction nothing happens before the commit (FACTS B18).
func (b *Broker) publish(on at, ch *channel, cmd *amqp.Command, r *amqp.Reply) {
	if b.names.Routing(cmd.Route).Exchange != "" {
		*r = b.publishTo(on, ch, cmd)
		return
	}
	p := publishing(cmd)
	if b.mail != nil {
		b.address(&p, cmd)
	}
	if ch.mode == transacting {
		ch.tx.publishes = append(ch.tx.publishes, b.resolve(p)...)
		return
	}
	r.Kind = ch.confirm(b.route(ch, p))
}

// publishTo publishes to an exchange other than the default one. It looks up the queues at once, even in a transaction.
// If this fails and the client does not wait for a confirm, its next command gets the error.
func (b *Broker) publishTo(on at, ch *channel, cmd *amqp.Command) amqp.Reply {
	if code := b.publishable(b.names.Routing(cmd.Route).Exchange); code != 0 {
		mode := ch.mode
		r := b.fail(on, code)
		if mode != confirming {
			return amqp.Reply{}
		}
		return r
	}
	p := publishing(cmd)
	if b.mail != nil {
		b.address(&p, cmd)
	}
	copies := copiesOf(p, b.Reach(cmd))
	if ch.mode == transacting {
		ch.tx.publishes = append(ch.tx.publishes, b.resolve(copies...)...)
		return amqp.Reply{}
	}
	return amqp.Reply{Kind: ch.confirm(b.route(ch, copies...))}
}

// confirm returns the kind of reply to a message that was routed.
func (ch *channel) confirm(accepted bool) amqp.ReplyKind {
	switch {
	case ch.mode == plain:
		return amqp.NoReply
	case !accepted:
		return amqp.Nack
	}
	return amqp.Ack
}

// publication is a message that was published and is not yet in a queue.
type publication struct {
	queue      amqp.Queue
	flags      amqp.Flags
	expiration uint32
	id         uint64
	dest       destination // used only in a transaction
	letter     uint32
	priority   uint8
}

// joined marks a publication as a further copy of the message in the publication before it.
const joined amqp.Flags = 1 << 15

func publishing(cmd *amqp.Command) publication {
	return publication{queue: cmd.Queue, flags: cmd.Flags, expiration: cmd.Expiration, id: cmd.Number, priority: uint8(cmd.Priority)}
}

// copiesOf returns one copy of a message for each queue. If there are no queues, it returns one copy without a queue.
func copiesOf(p publication, queues []amqp.Queue) []publication {
	p.queue = 0
	copies := []publication{p}
	for i, q := range queues {
		p.queue = q
		if i == 0 {
			copies[0] = p
			p.flags |= joined
		} else {
			copies = append(copies, p)
		}
	}
	return copies
}

// route puts the copies of a message into their queues. If none of the queues exists, it returns a mandatory message to
// the client. The owner of a queue does not matter (FACTS B2). accepted is false if any queue rejects the message.
func (b *Broker) route(ch *channel, copies ...publication) (accepted bool) {
	found := false
	accepted = true
	for _, p := range copies {
		q := b.place(p.queue)
		switch {
		case b.lost(&p):
			accepted = false
		case !q.exists, p.dest == nowhere:
			continue
		default:
			accepted = b.deposit(q, &p) && accepted
		}
		found = true
	}
	if !found && copies[0].flags.Has(amqp.Mandatory) {
		ch.returned++
	}
	return accepted
}

// deposit puts a message into an existing queue, and returns false if the queue rejects it.
func (b *Broker) deposit(q *queue, p *publication) (accepted bool) {
	switch {
	case q.args.Overflow != amqp.DropHead && q.overflows(1): // FACTS B15
		if q.args.Overflow == amqp.RejectPublishDLX {
			b.die(q, p.queue, messageOf(q, p), MaxLen)
		}
		return false
	case q.singleActive() && q.unserved():
		return b.overtake(q, p)
	}
	b.enqueue(q, p)
	return true
}

// messageOf returns a published message as it is stored in a queue, without its position and deadline.
func messageOf(q *queue, p *publication) message {
	m := message{id: p.id, letter: p.letter}
	if q.args.MaxPriority > 0 {
		m.priority = min(p.priority, q.args.MaxPriority)
	}
	if p.flags.Has(amqp.Persistent) {
		m.mark = persistent
	}
	return m
}

// enqueue adds a message to a queue. A consumer that can take it gets it before the queue checks its length and expired
// messages.
func (b *Broker) enqueue(q *queue, p *publication) {
	m := messageOf(q, p)
	m.position, m.deadline = q.next, b.deadline(q, p)
	q.next++
	q.ready.push(m)
	b.serve(q, p.queue)
	if b.trim(q, p.queue) || q.args.Has&amqp.HasMaxPriority == 0 || q.ready.depth == 1 {
		b.dropExpired(q, p.queue)
	}
	b.reached = b.reached || q.ready.depth > 0
}

// deadline returns the time at which a message expires: by its queue's limit or by its own, whichever is earlier. In a
// quorum queue it expires after one millisecond at the earliest.
func (b *Broker) deadline(q *queue, p *publication) int64 {
	d := int64(never)
	if q.args.Has&amqp.HasMessageTTL != 0 {
		d = b.now + int64(q.args.MessageTTL)
	}
	if p.flags.Has(amqp.Expiring) {
		d = min(d, b.now+int64(p.expiration))
	}
	if q.quorum() {
		d = max(d, b.now+1)
	}
	b.timed = b.timed || d != never
	return d
}

// overflows reports whether the queue has no room for the given number of further messages.
func (q *queue) overflows(more int) bool {
	return q.args.Has&amqp.HasMaxLength != 0 && q.ready.depth+more > int(q.args.MaxLength)
}

// trim drops messages from the head of a queue that is longer than its maximum (FACTS B14 and B26). dropped reports
// whether it dropped any.
func (b *Broker) trim(q *queue, id amqp.Queue) (dropped bool) {
	if q.args.Overflow != amqp.DropHead {
		return false
	}
	for ; q.overflows(0); dropped = true {
		b.die(q, id, q.ready.pop(), MaxLen)
	}
	return dropped
}

// dropExpired drops expired messages from the head of a queue, as dead letters if the queue has these.
func (b *Broker) dropExpired(q *queue, id amqp.Queue) {
	if q.args.Has&(amqp.HasDeadLetterExchange|amqp.HasMaxPriority) == 0 {
		q.ready.dropExpired(b.now)
		return
	}
	for q.ready.depth > 0 && q.ready.front().deadline <= b.now {
		b.die(q, id, q.ready.pop(), Expired)
	}
	q.rearm()
}

// tolerance is a time in milliseconds. The timer of a queue is set again only if the first message expires earlier than
// the timer by more than this.
const tolerance = 1000

// rearm sets the timer of a queue with priorities to the deadline of its first message. If a message with a higher
// priority later comes first, the timer stays. That message then expires when the queue next checks, and may be
// delivered before.
func (q *queue) rearm() {
	if q.args.Has&amqp.HasMaxPriority == 0 || q.ready.depth == 0 {
		return
	}
	if at := q.ready.front().deadline; at != never && (q.wake == 0 || at+tolerance < q.wake) {
		q.wake = at
	}
}
