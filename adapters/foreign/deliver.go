package foreign

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/foreign/amqp"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// passage is what becomes of a command that leaves the gate.
type passage struct {
	channel  uint16 // its channel's number in traces
	released bool   // its connection was let go: nothing sent there reaches the broker
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
	r.tick(p)
	l = r.connections[cmd.Conn]
	p.parked = p.parked[1:]
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
	is = passage{channel: l.knows(cmd.Channel), released: released, broken: l.broken != 0 && l.broken == cmd.Channel}
	if cmd.Pipelined && !r.shared { // what others have sent on the connection says nothing
		r.uncontrolled.Pipelined++
	}
	r.step = exchange{command: cmd, joins: p.writesOn(cmd)}
	return l, is
}

// tick counts a command that passes.
func (r *run) tick(p *clientState) {
	if p.counted++; r.weighs(p.counted) { // the first counts as the operation does
		p.weight++
	}
	if !r.auditing {
		p.sent++
	}
	if !p.calling {
		p.unasked++
	}
}

// deliver has a client's first command pass, and records what it came to. repliesDropped says that the answer is
// lost. There is no connection where the command is not at the gate any more: its connection has been closed for what
// the client has sent since.
func (r *run) deliver(c uint8, cmd *wire.Command, repliesDropped bool) *connection {
	p := &r.clients[c-1]
	l, is := r.dequeue(c, cmd, repliesDropped)
	if l == nil {
		return nil
	}
	r.used++
	l.used = r.used
	x := amqp.NewExchange(cmd, is.channel, &r.names)
	if x.MayChange() {
		p.changes++
	}
	if is.released || is.broken {
		r.harm(p.clientHandle)
	}
	if is.released { // the client sees now that the broker is gone
		cmd.Discard()
		if closes(cmd) && !l.stalled {
			r.endBy(l, func() { l.conn.Farewell(cmd) })
		} else {
			r.cutOff(l)
		}
		x.Refuse()
		x.Describe(&r.record.Step)
		return l
	}
	if is.broken {
		l.broken = 0
		cmd.Discard()
		amqp.CloseChannel(r.broker, cmd)
	} else {
		cmd.Pass()
	}
	x.Answer(r.answerOf(cmd), is.broken)
	x.Describe(&r.record.Step)
	r.passed(p, l, x)
	return l
}

// passed takes in what a command has come to: what it cost, and what its client may have lost by it.
func (r *run) passed(p *clientState, l *connection, x *amqp.Exchange) {
	if !r.auditing {
		cost := x.Cost()
		r.promises.Exchange(p.id, &cost)
	}
	if ends, byClient := x.EndsConnection(); ends {
		if r.has(l) {
			r.lose(l, byClient)
		}
	} else if ends, fault := x.EndsChannel(); ends { // what it was granted before may have been on that channel
		r.mayLose(l.client, fault)
	}
}

// mayLose notes that slots of a process's clients may be free from now on: those that they hold and, after a fault, those
// that they are about to be granted.
func (r *run) mayLose(a *clientHandle, fault bool) {
	for _, p := range r.playing(a) {
		if p.held > 0 || p.busy && fault {
			r.event(history.Gone, p.id)
		}
	}
}

// closes reports whether a command closes its connection or its channel.
func closes(cmd *wire.Command) bool {
	id := cmd.Method.ID()
	return id == frame.ConnectionCloseID || id == frame.ChannelCloseID
}

// answerOf is the answer to a command, nil if there is none. The simulated broker answers before a command has passed, but
// another goroutine may be showing its answers to the gate just then.
func (r *run) answerOf(cmd *wire.Command) *wire.Answer {
	if cmd.Replies {
		r.wait(r.ctx, r.config.Patience, func() bool { return r.step.answer != nil })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := r.step.answer
	r.step = exchange{}
	return answer
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

// accuse takes in that a property is violated, which a client shows at the step at hand.
func (r *run) accuse(p property.Property, client, l uint8, detail string) {
	r.found = r.found.With(p)
	r.record.Violated(property.Violation{Property: p, Kind: r.config.Kind, Client: client, Lock: l, Detail: detail})
}
