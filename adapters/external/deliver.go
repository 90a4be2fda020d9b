package external

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
)

// passage is what becomes of a command that leaves the gate.
type passage struct {
	channel  uint16 // its channel's number in traces
	released bool   // its connection was let go: nothing sent there reaches the broker
	closing  bool   // its channel answers nothing any more
	broken   bool   // its channel is closed instead
}

// dequeue takes a client's first command from those that wait at the gate, and says what is to become of it. There is no
// connection where the command does not wait any more.
func (r *run) dequeue(c uint8, cmd *wire.Command, repliesDropped bool) (l *connection, is passage) {
	p := &r.clients[c-1]
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(p.parked) == 0 || p.parked[0] != cmd {
		return nil, is
	}
	p.sent++
	if p.counted++; r.weighs(p.counted) { // the first counts as the operation does
		p.weight++
	}
	switch {
	case !p.calling:
		p.unasked++
	case p.mayWait && p.timeLeft() < 0:
		p.overtime++
	}
	l = r.connections[cmd.Conn]
	p.parked = p.parked[1:]
	p.goesOn()
	if r.shared {
		p.current = l
	}
	released := l.released
	if !released {
		l.repliesDropped = repliesDropped
		if l.opened && cmd.Channel == 0 && p.current != l && p.current != nil && !p.current.cut {
			r.uncontrolled.Connections++
		}
		l.passing(cmd)
	}
	is = passage{
		channel: l.knows(cmd.Channel), released: released,
		broken:  l.broken != 0 && l.broken == cmd.Channel,
		closing: l.closing != 0 && l.closing == cmd.Channel, // what is sent there is not answered
	}
	if cmd.Pipelined && !r.shared { // what others have sent on the connection says nothing
		r.uncontrolled.Pipelined++
	}
	r.step = exchange{command: cmd, joins: p.writesOn(cmd)}
	return l, is
}

// deliver has a client's first command pass, and tells the monitor what it came to. repliesDropped says that the answer is
// lost. There is no connection where the command is not at the gate any more: its connection has been closed for what
// the client has sent since.
func (r *run) deliver(c uint8, cmd *wire.Command, repliesDropped bool) *connection {
	p := &r.clients[c-1]
	l, is := r.dequeue(c, cmd, repliesDropped)
	if l == nil {
		return nil
	}
	p.unheard = nil
	r.used++
	l.used = r.used
	model := r.model(cmd, is.channel)
	if r.mayChange(&model) {
		p.changes++
	}
	if is.released || is.closing || is.broken {
		r.harm(p.clientHandle)
	}
	switch {
	case is.released: // the client sees now that the broker is gone
		p.troubled, p.severed, p.unheard = true, true, cmd
		r.monitor.Lost(c)
		cmd.Discard()
		if closes(cmd) && !l.stalled {
			p.unheard = nil
			r.endBy(l, func() { l.conn.Farewell(cmd) })
		} else {
			r.cutOff(l)
		}
		r.record.exchange(cmd, model, amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced})
		return l
	case is.closing:
		cmd.Discard()
		reply := amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.InternalError}
		r.record.exchange(cmd, model, reply)
		r.told(c, l, cmd, model, reply)
		return l
	case is.broken:
		l.broken = 0
		cmd.Discard()
		r.broker.CloseChannel(cmd.Conn, cmd.Channel, softError)
	default:
		cmd.Pass()
	}
	reply := r.replied(cmd)
	if is.broken { // what the rest of us calls an error of the broker's own
		reply.Code = amqp.InternalError
		r.monitor.Lost(c)
		if cmd.Replies { // else it does not wait for what becomes of it
			r.robbed(p)
		}
		p.unaware = !cmd.Replies && (!p.busy || p.op == lock.Release)
		if !cmd.Replies { // whatever tells it so, it opens another
			p.broken++
			r.monitor.Mends(c)
		}
	}
	r.record.exchange(cmd, model, reply)
	if is.broken && r.design.Channels() {
		r.channelEnds(l, cmd.Channel)
	}
	r.told(c, l, cmd, model, reply)
	if cmd.Replies && !repliesDropped && asks(model.Method) {
		r.monitor.Assured(c)
	}
	if is.broken && r.design.Holding != recognise.ByQueue { // what it had by that channel may be free
		r.gonePast(l)
	}
	return l
}

// asks reports whether the answer to a method may tell something about a lock: it only prepares for that otherwise.
func asks(m amqp.Method) bool {
	switch m {
	case amqp.ConnectionOpen, amqp.ConnectionClose, amqp.ChannelOpen, amqp.ChannelClose, amqp.ConfirmSelect:
		return false
	}
	return true
}

// softError is what a client is told that closes a channel and nothing more, to all drivers.
const softError = amqp.PreconditionFailed

// replied is what a command was answered. The simulated broker answers before a command has passed, but
// somebody else may be showing its answers to the gate just then.
func (r *run) replied(cmd *wire.Command) amqp.Reply {
	if cmd.Replies {
		r.wait(r.ctx, r.config.Patience, func() bool { return r.step.answered })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	reply := r.step.reply
	r.step = exchange{}
	return reply
}

// knows is the number of a channel in traces: channels count from 1, in the order in which they are used.
func (l *connection) knows(channel uint16) uint16 {
	if channel == 0 {
		return channel
	}
	i := slices.Index(l.channels, channel)
	if i < 0 {
		i = len(l.channels)
		l.channels = append(l.channels, channel)
	}
	return uint16(i + 1)
}
