package foreign

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
)

// passage says what happens to a command when it leaves the gate.
type passage struct {
	released bool // the broker has dropped the connection, so the command does not reach it
	broken   bool // a fault has broken the command's part of the connection, such as its channel; the server closes it
}

// dequeue takes command cmd of client c off the gate, and says what happens to it. l is nil if the command is no longer
// there. repliesDropped says that the client will not receive replies any more.
func (r *run) dequeue(c uint8, cmd gate.Command, repliesDropped bool) (l *connection, is passage) {
	p := &r.clients[c-1]
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(p.parked, cmd)
	if at < 0 {
		return nil, is
	}
	r.tick(p)
	l = r.connections[cmd.Conn()]
	p.parked = slices.Delete(p.parked, at, at+1)
	if r.shared {
		p.current = l
	}
	released, broken := l.released, cmd.Broken()
	if !released {
		l.repliesDropped = repliesDropped
		if l.opened && cmd.Role() == gate.Closes && p.current != l && p.current != nil && !p.current.cut {
			r.uncontrolled.Connections++
		}
		l.passing(cmd)
	}
	is = passage{released: released, broken: broken}
	if cmd.Pipelined() && !r.shared { // on a shared connection the commands may be those of several clients
		r.uncontrolled.Pipelined++
	}
	r.step = exchange{command: cmd}
	return l, is
}

// tick counts a command of client p that passes.
func (r *run) tick(p *clientState) {
	if p.counted++; r.weighs(p.counted) { // the first command counts with the call
		p.weight++
	}
	if !r.auditing {
		p.sent++
	}
	if !p.calling {
		p.unasked++
	}
}

// deliver lets command cmd of client c pass, and records the reply. repliesDropped says that the client does not
// receive the reply. The result is the command's connection. It is nil if the command is no longer at the gate, because
// its connection was closed meanwhile.
func (r *run) deliver(c uint8, cmd gate.Command, repliesDropped bool) *connection {
	p := &r.clients[c-1]
	l, is := r.dequeue(c, cmd, repliesDropped)
	if l == nil {
		return nil
	}
	r.used++
	l.used = r.used
	x := cmd.Exchange()
	if cmd.MayChange() {
		p.changes++
	}
	if is.released || is.broken {
		r.harm(p.clientHandle)
	}
	if is.released { // now the client notices that the broker has dropped the connection
		cmd.Discard()
		if closes(cmd) && !l.stalled {
			r.endBy(l, func() { l.conn.Farewell(cmd) })
		} else {
			r.cutOff(l)
		}
		x.Disconnect()
		x.Describe(&r.record.Step)
		return l
	}
	if is.broken {
		cmd.Refuse()
	} else {
		cmd.Pass()
		r.keepsWaiting(l, cmd)
	}
	x.Answer(r.answerOf(cmd), is.broken)
	x.Describe(&r.record.Step)
	r.passed(p, l, x)
	return l
}

// keepsWaiting records that the server keeps command cmd waiting, for example for a lock in a database.
func (s *Runner) keepsWaiting(l *connection, cmd gate.Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.blocked = slices.DeleteFunc(l.blocked, func(c gate.Command) bool { return !c.Waits() })
	if cmd.Waits() {
		l.blocked = append(l.blocked, cmd)
	}
}

// passed records the effect of a command: its cost, and whether client p may have lost what it holds.
func (r *run) passed(p *clientState, l *connection, x gate.Exchange) {
	if !r.auditing {
		cost := x.Cost()
		r.promises.Exchange(p.id, &cost)
	}
	if ends, byClient := x.EndsConnection(); ends {
		if r.has(l) {
			r.lose(l, byClient)
		}
	} else if ends, fault := x.EndsPart(); ends { // the client may hold something by this channel
		r.mayLose(l.client, fault)
	}
}

// mayLose records that what the clients of a process hold may be free from now on. After a fault this includes what
// they are acquiring.
func (r *run) mayLose(a *clientHandle, fault bool) {
	for _, p := range r.playing(a) {
		if p.held > 0 || p.busy && fault {
			r.event(history.Gone, p.id)
		}
	}
}

// closes reports whether cmd closes its connection or a part of it, such as a channel.
func closes(cmd gate.Command) bool { return cmd.Role() == gate.Closes || cmd.Role() == gate.ClosesPart }

// answerOf is the answer to cmd; nil if there is none. If cmd has a reply, answerOf waits until the reply is at the
// gate: even if the broker has answered already, another goroutine may still be bringing it there.
func (r *run) answerOf(cmd gate.Command) gate.Answer {
	if cmd.Replies() && !cmd.Waits() {
		r.wait(r.ctx, r.config.Patience, func() bool { return r.step.answer != nil })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := r.step.answer
	r.step = exchange{}
	return answer
}

// accuse records that client violates property p at lock l in the current step.
func (r *run) accuse(p property.Property, client, l uint8, detail string) {
	r.found = r.found.With(p)
	r.record.Violated(property.Violation{Property: p, Kind: r.config.Kind, Client: client, Lock: l, Detail: detail})
}
