package broker

import (
	"cmp"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// transaction is what a channel in transaction mode has yet to commit.
type transaction struct {
	publishes []publication
	settled   []delivered // in the order in which they were acknowledged
}

func (tx *transaction) reset() { tx.publishes, tx.settled = tx.publishes[:0], tx.settled[:0] }

func (tx *transaction) copyFrom(o *transaction) {
	tx.publishes = refill(tx.publishes, o.publishes)
	tx.settled = refill(tx.settled, o.settled)
}

// settle keeps acknowledgements for the commit.
func (tx *transaction) settle(messages []delivered, how settlement) {
	for _, d := range messages {
		d.how = how
		tx.settled = append(tx.settled, d)
	}
}

// commit answers tx.commit: the messages go to their queues, which are looked up now and not when
// they were published, then the acknowledgements are done. A message that a queue rejects fails the
// commit with 406, and undoes nothing.
func (b *Broker) commit(on at, ch *channel) amqp.Reply {
	if ch.mode != transacting {
		return b.fail(on, amqp.PreconditionFailed)
	}
	accepted := true
	for _, p := range ch.tx.publishes {
		accepted = b.route(ch, p) && accepted
	}
	b.settleGroups(on, ch.tx.settled)
	ch.tx.reset()
	if !accepted {
		return b.fail(on, amqp.PreconditionFailed)
	}
	return ok
}

// settleGroups settles what was acknowledged one after the other in the same way at once.
func (b *Broker) settleGroups(on at, all []delivered) {
	for len(all) > 0 {
		how, n := all[0].how, 1
		for n < len(all) && all[n].how == how {
			n++
		}
		b.settle(on, all[:n], how)
		all = all[n:]
	}
}

// rollback answers tx.rollback: messages published are forgotten, those acknowledged are
// unacknowledged again. None is redelivered.
func (b *Broker) rollback(on at, ch *channel) amqp.Reply {
	if ch.mode != transacting {
		return b.fail(on, amqp.PreconditionFailed)
	}
	ch.rollback()
	return ok
}

func (ch *channel) rollback() {
	ch.unacked = append(ch.unacked, ch.tx.settled...)
	if len(ch.tx.settled) > 0 {
		slices.SortFunc(ch.unacked, func(a, b delivered) int { return cmp.Compare(a.tag, b.tag) })
	}
	ch.tx.reset()
}
