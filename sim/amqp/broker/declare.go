package broker

import "github.com/lockproof/lockproof/model/amqp"

// declare answers queue.declare.
func (b *Broker) declare(on at, cmd *amqp.Command) amqp.Reply {
	if cmd.Flags.Has(amqp.Passive) {
		return b.declarePassive(on, cmd.Queue)
	}
	if b.names.Reserved(cmd.Queue) && !cmd.Flags.Has(amqp.Generated) {
		return b.fail(on, amqp.AccessRefused) // names that begin with amq. are reserved, FACTS B19
	}
	wanted := wantedBy(on.conn, cmd)
	var dead *deadLetters
	if wanted.args.Has&amqp.HasDeadLetterExchange != 0 {
		dead = b.deadLettersOf(cmd)
	}
	q := b.place(cmd.Queue)
	if q.exists {
		code := q.differs(wanted)
		if code == 0 && q.dead != dead && !q.dead.same(dead) {
			code = amqp.PreconditionFailed
		}
		if code != 0 {
			return b.fail(on, code)
		}
		b.touch(q)
		return b.counted(cmd.Queue)
	}
	r := b.create(on, q, cmd.Queue, wanted)
	if q.exists && dead != nil {
		q.dead = dead
		b.post()
	}
	return r
}

// declarePassive answers a passive queue.declare. It counts as use for x-expires even if it is refused, since RabbitMQ
// records the use before it checks the owner.
func (b *Broker) declarePassive(on at, id amqp.Queue) amqp.Reply {
	if q := b.place(id); q.exists {
		b.touch(q)
	}
	if _, code := b.accessible(on.conn, id); code != 0 {
		return b.fail(on, code)
	}
	return b.counted(id)
}

// create creates a queue with the wanted properties.
func (b *Broker) create(on at, q *queue, id amqp.Queue, wanted properties) amqp.Reply {
	switch {
	case id == 0: // the model does not support names that the broker chooses
		return b.endConnection(on.conn, amqp.NotImplemented)
	case wanted.args.Has&amqp.HasExpires != 0 && wanted.args.Expires == 0,
		wanted.args.Has&(amqp.HasDeadLetterExchange|amqp.HasDeadLetterKey) == amqp.HasDeadLetterKey:
		return b.fail(on, amqp.PreconditionFailed)
	case wanted.unfit(&b.opts) != 0:
		return b.refuse(on, wanted.unfit(&b.opts))
	case b.opts.TransientRefused && !wanted.durable && wanted.owner == 0:
		return b.endConnection(on.conn, amqp.InternalError)
	}
	q.exists, q.properties, q.used = true, wanted, b.now
	if q.quorum() {
		q.next = arrivals
	}
	b.timed = b.timed || wanted.args.Has&amqp.HasExpires != 0
	return ok
}

// wantedBy returns the properties that a queue.declare asks for. An exclusive queue is never durable, and an argument
// that is not given has the value 0.
func wantedBy(c Conn, cmd *amqp.Command) properties {
	p := properties{durable: cmd.Flags.Has(amqp.Durable), autoDelete: cmd.Flags.Has(amqp.AutoDelete), args: cmd.Args}
	if cmd.Flags.Has(amqp.Exclusive) {
		p.owner, p.durable = c, false
	}
	if p.args.Has == 0 {
		p.args = amqp.Arguments{}
		return p
	}
	if p.args.Has&amqp.HasOverflow == 0 {
		p.args.Overflow = 0
	}
	if p.args.Has&amqp.HasMaxPriority == 0 {
		p.args.MaxPriority = 0
	}
	if p.args.Has&amqp.HasMaxLength == 0 {
		p.args.MaxLength = 0
	}
	if p.args.Has&amqp.HasExpires == 0 {
		p.args.Expires = 0
	}
	if p.args.Has&amqp.HasMessageTTL == 0 {
		p.args.MessageTTL = 0
	}
	if p.args.Has&amqp.HasDeliveryLimit == 0 {
		p.args.DeliveryLimit = 0
	}
	return p
}

// differs returns the error of declaring a queue again with other properties; 0 if they are equal. It is 405 if one is
// exclusive and the other is not (FACTS B4 and B6), and 406 for any other difference (FACTS B7).
func (p properties) differs(wanted properties) amqp.Code {
	if p.quorum() { // a quorum queue ignores this argument
		wanted.args.Has &^= amqp.HasMaxPriority
		wanted.args.MaxPriority = 0
	}
	switch {
	case p.owner != wanted.owner:
		return amqp.ResourceLocked
	case p != wanted:
		return amqp.PreconditionFailed
	}
	return 0
}

// delete answers queue.delete. Deleting a queue that does not exist succeeds (FACTS B9), but an empty name is an error.
func (b *Broker) delete(on at, cmd *amqp.Command) amqp.Reply {
	q, code := b.accessible(on.conn, cmd.Queue)
	switch {
	case code == amqp.NotFound && cmd.Queue != 0:
		return ok
	case code != 0:
		return b.fail(on, code)
	case q.quorum() && cmd.Flags&(amqp.IfUnused|amqp.IfEmpty) != 0:
		return b.endConnection(on.conn, amqp.NotImplemented)
	case cmd.Flags.Has(amqp.IfUnused) && len(q.consumers) > 0,
		cmd.Flags.Has(amqp.IfEmpty) && q.ready.depth > 0:
		return b.fail(on, amqp.PreconditionFailed)
	}
	r := amqp.Reply{Kind: amqp.OK, Messages: uint32(q.ready.depth)}
	b.drop(cmd.Queue)
	return r
}

// Delete deletes a queue of any owner, as an operator can.
func (b *Broker) Delete(id amqp.Queue) {
	if b.Exists(id) {
		b.drop(id)
	}
}

// purge answers queue.purge: it removes the ready messages of a queue, but not the unacknowledged ones.
func (b *Broker) purge(on at, cmd *amqp.Command) amqp.Reply {
	q, code := b.accessible(on.conn, cmd.Queue)
	if code != 0 {
		return b.fail(on, code)
	}
	r := amqp.Reply{Kind: amqp.OK, Messages: uint32(q.ready.depth)}
	q.ready.reset()
	return r
}
