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

// befell records what happened in an execution besides the clients' operations. It names the audit clause that fails.
type befell struct {
	faults                           bool
	crashed, restarted, disconnected bool
	paused                           bool
	lost                             string // the first loss of a client, in words; "" is no loss
}

// fault notes a fault and the client that it affects.
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

// faulty reports whether something went wrong that no client caused.
func (b *befell) faulty() bool { return b.faults || b.crashed }

// pause stops client c for ms milliseconds. For a client that can't be stopped, only its commands at the gate stop.
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

// harm notes that a fault affected a process: it may have to be replaced before another run.
func (r *run) harm(a *clientHandle) { a.dirty, a.harmed = true, true }

// cutOff closes the client's side of a connection that the broker no longer has.
func (r *run) cutOff(l *connection) { r.endBy(l, l.conn.Cut) }

// endBy is cutOff with the given function to close the connection.
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

// gone waits until the socket is closed, so that the client sees the close before anything else happens.
func (r *run) gone(l *connection) {
	r.wait(r.ctx, r.config.Patience, func() bool { return l.hungUp })
}

// loseReply loses a reply: the connection breaks while the reply is on its way.
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

// keepHalfOpen lets the broker keep a connection that its client has abandoned.
func (r *run) keepHalfOpen(l *connection) {
	r.mu.Lock()
	l.halfOpen = true
	r.mu.Unlock()
	r.halfOpen = append(r.halfOpen, l)
	r.mayLose(l.client, true)
}

// lose lets the broker see the end of a connection. If a client closes a connection by itself although nothing went wrong,
// it does so knowingly, and itself says what it still holds.
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

// crash kills a client.
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

// lost is the number of clients that have crashed.
func (r *run) lost() (n int) {
	for i := range r.clients {
		if r.clients[i].dead {
			n++
		}
	}
	return n
}

// drop makes the broker drop one of a client's connections, or all of them if which is 0. Connections are counted from the
// one that the client used last. The client does not know of the drop yet. The order in which connections were opened would
// not identify them: a process that has been at work before has opened some on demand, and others at once.
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

// untold are the connections of p that the broker has dropped without p knowing. p has no operation under way.
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

// tell lets a client see that its connections are gone and react by itself: it may connect again, and claim what it has
// lost.
func (r *run) tell(p *clientState) {
	all := r.untold(p)
	if len(all) == 0 {
		return
	}
	for _, l := range all {
		r.cutOff(l)
	}
}

// which is the action as it is carried out: a drop takes one of the existing connections, or all if there is only one.
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

// breakPart makes the server end a part of the client's connection. The client notices when it next uses the part. It is the
// part of the client's first command at the gate, or else the part that it opened last.
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

// detect lets the broker notice that the client's dead connections are dead.
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

// restart stops the broker and starts it again: all connections end, and with them exclusive queues.
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

// cutIdle cuts the connections of the clients that take no part in the run. They may not look at their connections for long,
// and would not react.
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

// A late reply is kept at the gate, together with everything that the broker sends after it on the same connection, until
// the schedule lets it arrive. Meanwhile the other clients go on.

// keep keeps answer a at the gate: a is recorded in its step, but has not reached the client. mu is held.
func (l *connection) keep(a gate.Answer) {
	s := l.client.runner
	l.kept = append(l.kept, a)
	if s.step.command != nil && a.Settles(s.step.command) {
		s.step.answer = a
		l.client.stalled = true
	}
	s.notify()
}

// stall keeps the broker's answers on connection l at the gate.
func (r *run) stall(l *connection) {
	r.mu.Lock()
	l.stalled = true
	r.mu.Unlock()
	r.harm(l.client)
}

// awaited reports whether something for client p waits at the gate.
func (p *clientState) awaited() bool {
	p.runner.mu.Lock()
	defer p.runner.mu.Unlock()
	return slices.ContainsFunc(p.connections, func(l *connection) bool { return l.stalled })
}

// kept is a client for which something waits at the gate, 0 if there is no such client.
func (r *run) kept() uint8 {
	for i := range r.clients {
		if p := &r.clients[i]; !p.dead && p.awaited() {
			return p.id
		}
	}
	return 0
}

// arrive delivers to client a what waits for it.
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
