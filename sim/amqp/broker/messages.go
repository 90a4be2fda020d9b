package broker

import "github.com/lockproof/lockproof/model/amqp"

// AppendMessages appends the ids of all messages in the broker: in queues, unacknowledged, in transactions, and on
// their way to consumers. An id may occur more than once. A caller that stores the contents of messages may drop the
// contents of all messages with other ids.
func (b *Broker) AppendMessages(ids []uint64) []uint64 {
	for i := range b.queues {
		l := &b.queues[i].ready
		for _, r := range l.runs[l.head:] {
			ids = append(ids, r.id)
		}
	}
	for i := range b.conns {
		for _, d := range b.conns[i].outbox {
			ids = append(ids, d.Message)
		}
		for n := range b.conns[i].channels {
			ids = b.conns[i].channels[n].appendMessages(ids)
		}
	}
	return ids
}

func (ch *channel) appendMessages(ids []uint64) []uint64 {
	for i := range ch.unacked {
		ids = append(ids, ch.unacked[i].id)
	}
	for i := range ch.tx.settled {
		ids = append(ids, ch.tx.settled[i].id)
	}
	for _, p := range ch.tx.publishes {
		ids = append(ids, p.id)
	}
	return ids
}

// Settled reports whether no channel has an uncommitted transaction. All published messages have then reached their
// queues.
func (b *Broker) Settled() bool {
	for i := range b.conns {
		for n := range b.conns[i].channels {
			if len(b.conns[i].channels[n].tx.publishes) > 0 {
				return false
			}
		}
	}
	return true
}

// Broken returns the error code with which the broker closed a channel; 0 if it did not.
func (b *Broker) Broken(c Conn, number uint16) amqp.Code {
	if !b.Alive(c) {
		return 0
	}
	if ch := b.channel(at{c, number}); ch != nil {
		return ch.code
	}
	return 0
}
