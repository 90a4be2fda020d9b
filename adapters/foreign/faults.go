package foreign

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// befell records what happened in an execution besides the clients' operations. An audit uses it to decide which
// property a refusal violates.
type befell struct {
	faults                           bool
	crashed, restarted, disconnected bool
	paused                           bool
	lost                             string // first loss by a fault, such as "a lost reply to c1"; "" if none
}

// fault records a fault and the client c that it affects.
func (b *befell) fault(do scenario.ActionKind, c uint8) {
	b.faults = true
	b.paused = b.paused || do == scenario.Pause
	b.lost = cmp.Or(b.lost, loses(do, c))
	switch {
	case do.Crash():
		b.crashed = true
	case do == scenario.Restart:
		b.restarted = true
	case do != scenario.Pause:
		b.disconnected = true
	}
}

// faulty reports whether something went wrong that no client caused: a fault or a crash.
func (b *befell) faulty() bool { return b.faults || b.crashed }

// pause stops client c for ms milliseconds of virtual time. If the client cannot be stopped, only its commands at the
// gate stop.
func (r *run) pause(c uint8, ms int64) {
	p := &r.clients[c-1]
	for _, o := range r.playing(p.clientHandle) {
		o.wake = r.now + ms
		r.event(history.Pause, o.id)
	}
	if err := p.client.Pause(); err != nil {
		r.uncontrolled.Unpaused++
		return
	}
	r.mu.Lock()
	p.paused = true
	r.mu.Unlock()
}

// harm records that a fault affected a process, so that it must be reset or replaced before another run.
func (r *run) harm(a *clientHandle) { a.dirty, a.harmed = true, true }

// cutOff closes the client's socket of a connection that the broker no longer has.
func (r *run) cutOff(l *connection) { r.endBy(l, l.conn.Cut) }

// endBy is cutOff with another function to close the socket.
func (r *run) endBy(l *connection, end func()) {
	r.harm(l.client)
	r.mu.Lock()
	l.cut, l.client.cut = true, true
	r.leave(l)
	r.Runner.discard(func(c gate.Command) bool { return c.Conn() == l.conn })
	r.mu.Unlock()
	end()
	r.gone(l)
}

// gone waits until the client's socket is closed, so that the client notices the close before anything else happens.
func (r *run) gone(l *connection) {
	r.wait(r.ctx, r.config.Patience, func() bool { return l.hungUp })
}

// loseReply breaks a connection while a reply is on its way to the client. If late is set, the broker does not notice
// yet.
func (r *run) loseReply(l *connection, late bool) {
	if r.has(l) {
		if late {
			r.keepHalfOpen(l)
		} else {
			r.lose(l, false)
		}
	}
	r.cutOff(l)
}

// keepHalfOpen makes a connection half-open: the client has lost it, and the broker does not notice yet.
func (r *run) keepHalfOpen(l *connection) {
	r.mu.Lock()
	l.halfOpen = true
	r.mu.Unlock()
	r.halfOpen = append(r.halfOpen, l)
	r.mayLose(l.client, true)
}

// lose makes the broker notice the end of connection l, so that what its client holds may be free. byItself says that
// the client closed l. If there was no fault, the client did so knowingly: it is trusted to say what it still holds.
func (r *run) lose(l *connection, byItself bool) {
	r.mu.Lock()
	own := l.hungUp || l.cut
	knows := byItself && !r.befell.faulty()
	l.released, l.halfOpen = true, false
	l.client.cut = true
	r.mu.Unlock()
	l.conn.Release()
	for i := range r.clients {
		if p := &r.clients[i]; p.clientHandle == l.client || r.shared && p.current == l {
			if p.dead || p.held > 0 && !knows || p.busy && !own {
				r.event(history.Gone, p.id)
			}
		}
	}
}

// crash kills client c. If late is set, the broker does not notice yet.
func (r *run) crash(c uint8, late bool) {
	p := &r.clients[c-1]
	if p.dead {
		return
	}
	all, open := r.playing(p.clientHandle), r.open(p)
	r.crashes, r.befell.crashed = true, r.befell.crashed || !r.auditing
	for _, p := range all {
		p.unsure = p.unsure || p.busy && p.op == lock.Acquire
		p.dead, p.busy = true, false
	}
	if err := p.kill(); err != nil {
		r.record.trouble = errors.Join(r.record.trouble, err)
	}
	r.prepare(r.lost())
	for _, p := range all {
		r.event(history.Crash, p.id)
	}
	for _, l := range open {
		if late {
			r.keepHalfOpen(l)
		} else {
			r.lose(l, false)
		}
	}
}

// lost is the number of clients of the run that are dead.
func (r *run) lost() (n int) {
	for i := range r.clients {
		if r.clients[i].dead {
			n++
		}
	}
	return n
}

// drop makes the broker drop one of client c's connections, or all if which is 0. The client does not know that yet.
// which counts from the connection that was used last. The order of opening would not identify a connection, because a
// client may open some in advance and others on demand.
func (r *run) drop(c uint8, which int) {
	p := &r.clients[c-1]
	r.harm(p.clientHandle)
	all := r.open(p)
	slices.SortStableFunc(all, func(a, b *connection) int { return b.used - a.used })
	for i, l := range all {
		if which == 0 || which == i+1 {
			r.lose(l, false)
		}
	}
}

// untold are the connections of p that the broker has dropped and that p does not know of. There are none while p has
// an operation under way.
func (r *run) untold(p *clientState) (all []*connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range p.connections {
		if l.opened && l.released && !l.cut && !l.halfOpen && !p.calling {
			all = append(all, l)
		}
	}
	return all
}

// tell makes client p notice that connections were dropped. p may react by itself: it may reconnect and acquire again
// what it has lost.
func (r *run) tell(p *clientState) {
	all := r.untold(p)
	if len(all) == 0 {
		return
	}
	for _, l := range all {
		r.cutOff(l)
	}
}

// which adapts a drop to the connections that exist: its argument becomes the number of one of them, or 0 if there is
// at most one.
func (r *run) which(a scenario.Action) scenario.Action {
	if a.Kind != scenario.Drop || a.Arg == 0 {
		return a
	}
	if n := uint32(len(r.open(&r.clients[a.Client-1]))); n > 1 {
		a.Arg = (a.Arg-1)%n + 1
	} else {
		a.Arg = 0
	}
	return a
}

// breakPart makes the server close a part of client c's connection, such as a channel, when c next uses it. It is the
// part that c's first command at the gate uses, or else the part that c opened last.
func (r *run) breakPart(c uint8) {
	p := &r.clients[c-1]
	r.harm(p.clientHandle)
	cmd := p.first()
	r.mu.Lock()
	l := p.current
	if cmd != nil {
		l = r.connections[cmd.Conn()]
	}
	if l != nil {
		l.conn.Break(cmd)
	}
	r.mu.Unlock()
}

// detect makes the broker notice all half-open connections of client c.
func (r *run) detect(c uint8) {
	p := &r.clients[c-1]
	var rest []*connection
	for _, l := range r.halfOpen {
		if l.client != p.clientHandle {
			rest = append(rest, l)
			continue
		}
		r.lose(l, false)
		r.mu.Lock()
		if l.hungUp {
			l.client.forget(l)
		}
		r.mu.Unlock()
	}
	r.halfOpen = rest
}

// restart stops the broker and starts it again. All connections end, and the broker deletes everything that is not
// durable.
func (r *run) restart() {
	r.mu.Lock()
	var all []*connection
	for i := range r.clients {
		p := &r.clients[i]
		r.harm(p.clientHandle)
		for _, l := range p.connections {
			if !l.released {
				l.released, l.halfOpen, l.client.cut = true, false, true
				all = append(all, l)
			}
		}
	}
	r.mu.Unlock()
	for _, l := range all {
		l.conn.Release()
	}
	r.halfOpen = nil
	r.cutIdle()
	r.server.Restart()
	r.record.Add(history.Occurrence(history.Restart, history.Nemesis))
}

// cutIdle cuts the connections of clients that take no part in the run, as they might not notice the restart for a long
// time.
func (r *run) cutIdle() {
	var cut []*connection
	r.mu.Lock()
	for _, a := range r.everybody() {
		if r.plays(a) {
			continue
		}
		a.dirty, a.harmed, a.cut = true, true, true
		for _, l := range a.connections {
			l.cut, l.released = true, true
			r.leave(l)
			cut = append(cut, l)
		}
	}
	r.mu.Unlock()
	for _, l := range cut {
		l.conn.Release()
		l.conn.Cut()
	}
}

// A late reply is held back at the gate, with everything that the broker sends after it on the same connection. The
// schedule decides when it arrives. Meanwhile other clients go on.

// keep holds answer a back at the gate. The step of the command that a answers records a, although the client has not
// received it. The caller must hold mu.
func (l *connection) keep(a gate.Answer) {
	s := l.client.runner
	l.kept = append(l.kept, a)
	if s.step.command != nil && a.Settles(s.step.command) {
		s.step.answer = a
		l.client.stalled = true
	}
	s.notify()
}

// stall makes the gate hold back the broker's answers on connection l from now on.
func (r *run) stall(l *connection) {
	r.mu.Lock()
	l.stalled = true
	r.mu.Unlock()
	r.harm(l.client)
}

// awaited reports whether answers to client p are held back at the gate.
func (p *clientState) awaited() bool {
	p.runner.mu.Lock()
	defer p.runner.mu.Unlock()
	return slices.ContainsFunc(p.connections, func(l *connection) bool { return l.stalled })
}

// kept is the first client whose answers are held back at the gate; 0 if there is none.
func (r *run) kept() uint8 {
	for i := range r.clients {
		if p := &r.clients[i]; !p.dead && p.awaited() {
			return p.id
		}
	}
	return 0
}

// arrive delivers to client a the answers that were held back.
func (r *run) arrive(a *clientHandle) {
	var kept []gate.Answer
	var ended []gate.Conn
	r.mu.Lock()
	a.stalled = false
	for _, l := range a.connections {
		kept = append(kept, l.kept...)
		if l.ended {
			ended = append(ended, l.conn)
		}
		l.kept, l.stalled, l.ended = nil, false, false
	}
	r.mu.Unlock()
	for _, answer := range kept {
		(&door{r.Runner, a}).Answered(answer)
	}
	for _, c := range ended {
		c.HangUp()
	}
}
