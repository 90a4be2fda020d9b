package broker

import (
	"cmp"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// transaction is the uncommitted work of a channel in transaction mode.
type transaction struct {
	publishes []publication
	settled   []delivered // in the order of their acknowledgement
}

func (tx *transaction) reset() { tx.publishes, tx.settled = tx.publishes[:0], tx.settled[:0] }

// settle keeps acknowledgements for the commit.
func (tx *transaction) settle(messages []delivered, how settlement) {
	for _, d := range messages {
		d.how = how
		tx.settled = append(tx.settled, d)
	}
}

// destination is the queue of a message in a transaction: the queue with its name at the commit (0), none, or the
// queue that existed when it was published, identified by the number of earlier queues with that name.
type destination uint32

const (
	whenCommitted destination = iota
	nowhere
	firstOfName
)

// resolve routes messages of a transaction, if the options require this before the commit.
func (b *Broker) resolve(copies ...publication) []publication {
	for i := range copies {
		if b.opts.RoutedAtPublish {
			copies[i].dest = b.destinationOf(copies[i].queue)
		}
	}
	return copies
}

// destinationOf is the destination of a message that is routed now.
func (b *Broker) destinationOf(id amqp.Queue) destination {
	switch {
	case !b.Exists(id):
		return nowhere
	case int(id) >= len(b.gone):
		return firstOfName
	}
	return firstOfName + destination(b.gone[id])
}

// lost reports whether the queue to which a message was routed was deleted.
func (b *Broker) lost(p *publication) bool {
	return p.dest >= firstOfName && p.dest != b.destinationOf(p.queue)
}

// commit answers tx.commit: first the messages are put into their queues, then acknowledgements take effect. The
// queues are looked up now, unless the options say that this was done at the publish. A message that a queue rejects,
// or whose queue was deleted, fails the commit with 406; nothing is undone.
func (b *Broker) commit(on at, ch *channel) amqp.Reply {
	if ch.mode != transacting {
		return b.fail(on, amqp.PreconditionFailed)
	}
	accepted := true
	for all := ch.tx.publishes; len(all) > 0; {
		n := 1
		for n < len(all) && all[n].flags.Has(joined) {
			n++
		}
		accepted = b.route(ch, all[:n]...) && accepted
		all = all[n:]
	}
	b.settleGroups(on, ch.tx.settled)
	ch.tx.reset()
	if !accepted {
		return b.fail(on, amqp.PreconditionFailed)
	}
	return ok
}

// settleGroups settles consecutive acknowledgements of the same kind together.
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

// rollback answers tx.rollback: published messages are dropped, and acknowledged ones are unacknowledged again,
// without being redelivered.
func (b *Broker) rollback(on at, ch *channel) amqp.Reply {
	if ch.mode != transacting {
		return b.fail(on, amqp.PreconditionFailed)
	}
	ch.rollback()
	b.awaits = b.awaits || len(ch.unacked) > 0
	return ok
}

func (ch *channel) rollback() {
	ch.unacked = append(ch.unacked, ch.tx.settled...)
	if len(ch.tx.settled) > 0 {
		slices.SortFunc(ch.unacked, func(a, b delivered) int { return cmp.Compare(a.tag, b.tag) })
	}
	ch.tx.reset()
}
