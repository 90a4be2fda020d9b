package external

import (
	"cmp"
	"iter"
	"time"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// owner is who has a slot, or had it last: by a connection, and by a channel where that makes a difference.
type owner struct {
	connection *connection
	channel    uint16
}

// surveyed is what the broker has of a lock. Who has a slot is noted among its owners. mu is held.
func (r *run) surveyed(v wire.State, l uint8) (t monitor.Truth) {
	layout := &r.names.layouts[l]
	if r.config.Kind == lock.Mutex {
		t.Exists = 1 << 1
	}
	if r.design.Permits() {
		r.count(v, &t, l)
	}
	for s := uint8(1); s <= monitor.Slots && !r.design.Permits(); s++ {
		switch r.design.Holding {
		case recognise.ByQueue:
			if r.exists(v, layout.a[s]) && (!r.design.Filled || r.filledNow(v, layout.a[s])) {
				t.Exists |= 1 << s
			}
			if r.exists(v, layout.b[s]) {
				r.owned(&t, l, s, owner{connection: r.connections[v.Owner(r.realName(layout.b[s]))]})
			}
		case recognise.ByMessage:
			r.message(v, &t, l, s, layout.a[s])
		case recognise.ByConsumer:
			r.consumer(v, &t, l, s, layout.a[s])
		}
	}
	if layout.admin != 0 {
		t.Admin = r.ownerOf(l, r.connections[v.Owner(r.realName(layout.admin))])
	}
	return t
}

// filledNow reports whether a queue has a message, whoever has that just now.
func (r *run) filledNow(v wire.State, q amqp.Queue) bool {
	for range v.Messages(r.realName(q)) {
		return true
	}
	return false
}

// unsettle has a lock's slots be those of nobody yet that are made by what is not over: it may make them first, and say last that
// they are there. Those of one that did not end well are when somebody has had them, or an administrator has come to an end.
func (r *run) unsettle(l uint8) {
	t := &r.truth[l]
	for i := range r.clients {
		if p := &r.clients[i]; p.busy && (p.op == lock.Create || p.op == lock.Add) && r.lockOf(p.id) == l {
			p.existed = p.existed&t.Exists | t.Taken // what went since it began is made anew
			r.unsettled[l] |= t.Exists &^ p.existed
		}
	}
	r.unsettled[l] &= t.Exists &^ t.Taken
	t.Pending |= r.unsettled[l]
}

// exists reports whether there is a queue; there is no queue 0.
func (r *run) exists(v wire.State, q amqp.Queue) bool { return q != 0 && v.Exists(r.realName(q)) }

// owned notes who has a slot.
func (r *run) owned(t *monitor.Truth, l, s uint8, o owner) {
	t.Taken |= 1 << s
	t.Owner[s] = r.ownerOf(l, o.connection)
	r.owners[l][s] = o
}

// message looks for the message that stands for a slot. The client that has it holds the slot; if it is ready, nobody does.
// If it is gone, the slot is taken by nobody and does not become free. If the queue never had one, the slot is still to be
// made, unless its queue is bare.
func (r *run) message(v wire.State, t *monitor.Truth, l, s uint8, q amqp.Queue) {
	if !r.exists(v, q) {
		r.filled[l] &^= 1 << s
		t.Pending |= t.Exists & (1 << s)
		return
	}
	if r.design.Bare {
		r.filled[l] |= 1 << s
	}
	var first, same, leaving, passive owner
	ready := false
	for m := range v.Messages(r.realName(q)) {
		switch o := (owner{r.connections[m.Conn], m.Channel}); {
		case r.design.Single && (m.Content == nil || r.design.Number.Of(m.Content) != int(s)):
			continue
		case m.Conn == nil:
			ready = true
		case r.design.Active && !r.consumes(v, q, o): // it has been sent one by the way, or the token, or is about to release it
			passive = o
		case r.releasing(l, o): // it may have put another in its place
			leaving = o
		case o == r.owners[l][s]:
			same = o
		case first == owner{}:
			first = o
		}
		r.filled[l] |= 1 << s
	}
	switch {
	case same != owner{}: // of several, the holder stays who it was
		first = same
	case first == owner{}:
		first = cmp.Or(leaving, passive)
	}
	bit := uint16(1) << s
	t.Exists |= r.filled[l] & bit
	switch {
	case first != owner{}:
		r.owned(t, l, s, first)
	case ready:
	case r.filled[l]&bit == 0:
		t.Pending |= t.Exists & bit
	case r.design.Bare || r.design.Active && r.config.Kind == lock.Mutex: // who wants it puts another there
	default:
		t.Taken |= bit
	}
}

// consumer looks who consumes the queue that stands for a slot.
func (r *run) consumer(v wire.State, t *monitor.Truth, l, s uint8, q amqp.Queue) {
	if !r.exists(v, q) {
		return
	}
	t.Exists |= 1 << s
	var first, same owner
	for o := range r.active(v, q) {
		if o == r.owners[l][s] {
			same = o
		} else if first == (owner{}) {
			first = o
		}
	}
	if same != (owner{}) {
		first = same
	}
	if first != (owner{}) {
		r.owned(t, l, s, first)
	}
}

// active are the consumers of a queue that do not wait for another's end.
func (r *run) active(v wire.State, q amqp.Queue) iter.Seq[owner] {
	return func(yield func(owner) bool) {
		for c := range v.Consumers(r.realName(q)) {
			if !c.Waits && !yield(owner{r.connections[c.Conn], c.Channel}) {
				return
			}
		}
	}
}

// consumes reports whether somebody is an active consumer of a queue.
func (r *run) consumes(v wire.State, q amqp.Queue, o owner) bool {
	for c := range r.active(v, q) {
		if c == o {
			return true
		}
	}
	return false
}

// surplus says which messages are too many in a queue whose messages each stand for a slot, or "".
func (r *run) surplus(v wire.State, q amqp.Queue) string {
	if r.design.Holding != recognise.ByMessage || r.design.Permits() || r.design.Active { // of permits, it is seen at once if there are too many
		return ""
	}
	var seen [monitor.Slots + 1]int
	for m := range v.Messages(r.realName(q)) {
		slot := 1
		if r.design.Single {
			if slot = r.design.Number.Of(m.Content); slot > monitor.Slots {
				continue
			}
		}
		if seen[slot]++; seen[slot] > 1 {
			return "there is a second message for what one stands for"
		}
	}
	return ""
}

// channelGone is a channel that the broker has closed through no fault of its client, and what histories record of it.
func (r *run) channelGone(l *connection, channel uint16) {
	r.channelEnds(l, channel)
	r.gonePast(l)
}

// channelEnds takes from its client what it had by a channel.
func (r *run) channelEnds(l *connection, channel uint16) {
	for _, p := range r.playing(l.client) {
		p.struck = true
		r.robbed(p)
		if p.busy && p.op == lock.Acquire {
			p.untold = owner{connection: l, channel: channel}
			p.untoldOf = r.lastOwned(r.lockOf(p.id), p.untold)
		}
		r.deprived(p, p.held > 0 && p.grant == l && p.grantedBy == channel)
	}
}

// lastOwned are the slots of a lock that were had by a channel last.
func (r *run) lastOwned(l uint8, o owner) (set uint16) {
	for s, last := range r.owners[l] {
		if last == o {
			set |= 1 << s
		}
	}
	return set
}

// deprived is a client that has lost a channel, and with it what it holds if it was granted that by it.
func (r *run) deprived(p *clientState, granted bool) {
	p.stale = p.stale || granted
	p.shifted, p.troubled = true, true
	r.monitor.ChannelGone(p.id, granted)
}

// gonePast notes that what a client had by a connection may be gone.
func (r *run) gonePast(l *connection) {
	for _, p := range r.playing(l.client) {
		r.event(history.Gone, r.processOf(p.id, l.session()))
	}
}

// closeHolding closes the channel by which a client holds something, while it has nothing to send there. The client learns
// it before any other answer, and before anything else happens if it reads what the broker sends while nobody calls it.
func (r *run) closeHolding(l *connection, channel uint16) {
	if r.broker.CloseChannel(l.conn, channel, softError) {
		l.closing = channel
		r.channelGone(l, channel)
		r.changed(0)
		r.reads(l, channel)
	}
}

// reads waits for a client to say that it knows that the broker has closed a channel. Those that never do before they are
// called are not waited for any more.
func (r *run) reads(l *connection, channel uint16) {
	of := cause{method: frame.ChannelCloseOkID}
	r.mu.Lock()
	known, limit := r.habit(of), time.Duration(0)
	if !l.client.paused && !l.stalled && l.conn.Unaware(channel, r.notify) {
		limit = known.limit(0, r.config.Habit, &r.config.Timing)
	}
	r.mu.Unlock()
	if limit == 0 {
		return
	}
	read, err := r.wait(r.ctx, limit, func() bool { return l.hungUp || !l.conn.Unaware(channel, r.notify) })
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
	case read:
		known.learn(0, 1)
	default:
		known.learn(0, 0)
	}
}

// moves reports whether a command may change who has messages of a queue, or consumes it.
func moves(m amqp.Command) bool {
	switch m.Method {
	case amqp.BasicPublish, amqp.BasicGet, amqp.BasicConsume, amqp.BasicAck, amqp.BasicNack, amqp.TxCommit, amqp.TxRollback, amqp.QueuePurge, amqp.NoMethod:
		return true
	}
	return false
}
