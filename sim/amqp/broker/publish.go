package broker

import "github.com/lockproof/lockproof/model/amqp"

// publish answers basic.publish. In confirm mode the answer is the confirm; a mandatory message without a queue is
// returned first (FACTS B1). In a transaction nothing happens before the commit (FACTS B18).
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

// publishTo publishes to another exchange than the default one. The queues are looked up now, even in a transaction.
// The next command finds out about a failure, as with acknowledgements, unless the client waits for a confirm.
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

// confirm answers a message that was routed.
func (ch *channel) confirm(accepted bool) amqp.ReplyKind {
	switch {
	case ch.mode == plain:
		return amqp.NoReply
	case !accepted:
		return amqp.Nack
	}
	return amqp.Ack
}

// publication is a message on its way to a queue.
type publication struct {
	queue      amqp.Queue
	flags      amqp.Flags
	expiration uint32
	id         uint64
	dest       destination // in a transaction
	letter     uint32
	priority   uint8
}

// joined says that a publication is one more copy of the message before it.
const joined amqp.Flags = 1 << 15

func publishing(cmd *amqp.Command) publication {
	return publication{queue: cmd.Queue, flags: cmd.Flags, expiration: cmd.Expiration, id: cmd.Number, priority: uint8(cmd.Priority)}
}

// copiesOf is a message for each of several queues; for none there is one that has no queue.
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

// route hands the copies of a message to their queues, or returns it where there is none. It does not
// matter whose the queues are (FACTS B2). It reports whether no queue rejected it.
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

// deposit puts a message into a queue that there is, unless that rejects it.
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

// messageOf is a message as it is in a queue, without its place and deadline.
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

// enqueue puts a message into a queue. A consumer that can take it gets it before length and expiry
// are looked at.
func (b *Broker) enqueue(q *queue, p *publication) {
	m := messageOf(q, p)
	m.position, m.deadline = q.next, b.deadline(q, p)
	q.next++
	q.ready.push(m)
	b.serve(q, p.queue)
	if b.trim(q, p.queue) || q.args.Has&amqp.HasMaxPriority == 0 || q.ready.depth == 1 {
		b.dropExpired(q, p.queue)
	}
}

// deadline is when a message expires: the earlier of the queue's time and its own. In a quorum queue that is not at once.
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

// overflows reports whether the queue has no room for that many more messages.
func (q *queue) overflows(more int) bool {
	return q.args.Has&amqp.HasMaxLength != 0 && q.ready.depth+more > int(q.args.MaxLength)
}

// trim drops from the head what is beyond the maximum length (FACTS B14 and B26). It reports whether that was
// anything.
func (b *Broker) trim(q *queue, id amqp.Queue) (dropped bool) {
	if q.args.Overflow != amqp.DropHead {
		return false
	}
	for ; q.overflows(0); dropped = true {
		b.die(q, id, q.ready.pop(), MaxLen)
	}
	return dropped
}

// dropExpired drops from the head what has expired.
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

// tolerance is how much earlier than its timer a queue's first message must expire for the timer to be set anew.
const tolerance = 1000

// rearm sets the timer of a queue with priorities by what is its first message now. A message of a higher priority that
// comes before that one later does not change it: it expires when the queue looks next, and may be delivered before.
func (q *queue) rearm() {
	if q.args.Has&amqp.HasMaxPriority == 0 || q.ready.depth == 0 {
		return
	}
	if at := q.ready.front().deadline; at != never && (q.wake == 0 || at+tolerance < q.wake) {
		q.wake = at
	}
}
