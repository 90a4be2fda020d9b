package broker

import (
	"cmp"
	"slices"

	"github.com/lockproof/lockproof/model/amqp"
)

// transaction has the uncommitted commands of a channel in transaction mode.
type transaction struct {
	publishes []publication
	settled   []delivered // messages to settle, in the order of their acknowledgement
}

func (tx *transaction) reset() { tx.publishes, tx.settled = tx.publishes[:0], tx.settled[:0] }

// settle stores acknowledgements until the commit.
func (tx *transaction) settle(messages []delivered, how settlement) {
	for _, d := range messages {
		d.how = how
		tx.settled = append(tx.settled, d)
	}
}

// destination says which queue a message in a transaction goes to. whenCommitted is the queue that has the name at the
// commit. nowhere is no queue. firstOfName plus n is the queue that had the name at the publish, if n queues with this
// name had been deleted before.
type destination uint32

const (
	whenCommitted destination = iota
	nowhere
	firstOfName
)

// resolve sets the destinations of a message in a transaction, if the option RoutedAtPublish is set.
func (b *Broker) resolve(copies ...publication) []publication {
	for i := range copies {
		if b.opts.RoutedAtPublish {
			copies[i].dest = b.destinationOf(copies[i].queue)
		}
	}
	return copies
}

// destinationOf returns the destination of a message that is routed to queue id now.
func (b *Broker) destinationOf(id amqp.Queue) destination {
	switch {
	case !b.Exists(id):
		return nowhere
	case int(id) >= len(b.gone):
		return firstOfName
	}
	return firstOfName + destination(b.gone[id])
}

// lost reports whether the queue to which a message was routed has been deleted since.
func (b *Broker) lost(p *publication) bool {
	return p.dest >= firstOfName && p.dest != b.destinationOf(p.queue)
}

// commit answers tx.commit. First it puts the messages into their queues, then acknowledgements take effect. It looks
// up the queues now, unless RoutedAtPublish has done so at the publish. The commit fails with 406 if a queue rejects a
// message, or if a queue that was looked up at the publish has been deleted. It then undoes nothing.
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

// settleGroups settles acknowledgements in order, consecutive ones of the same kind together.
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

// rollback answers tx.rollback. Published messages are dropped. Acknowledged messages are unacknowledged again, and are
// not redelivered.
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
