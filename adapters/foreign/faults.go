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

// befell is what has happened in an execution besides what clients do: by it, a clause of the audit that fails is named.
type befell struct {
	faults                           bool
	crashed, restarted, disconnected bool
	paused                           bool
	lost                             string // what a client was the first to lose, in words; "" is nothing
}

// fault notes a fault, and whom it befalls.
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

// faulty reports whether something went wrong that is no client's doing.
func (b *befell) faulty() bool { return b.faults || b.crashed }

// pause stops a client for a while. One that can't be stopped stands still at the gate alone.
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

// harm notes that something befalls a process: it may have to be replaced before another run.
func (r *run) harm(a *clientHandle) { a.dirty, a.harmed = true, true }

// cutOff closes the client's side of a connection that the broker does not have any more.
func (r *run) cutOff(l *connection) { r.endBy(l, l.conn.Cut) }

// endBy is cutOff in a way of its own.
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

// gone waits until the socket is closed, so that the client sees that before anything else happens.
func (r *run) gone(l *connection) {
	r.wait(r.ctx, r.config.Patience, func() bool { return l.hungUp })
}

// loseReply is a reply that never arrives: the connection breaks on its way.
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

// keepHalfOpen has the broker keep a connection that its client has given up.
func (r *run) keepHalfOpen(l *connection) {
	r.mu.Lock()
	l.halfOpen = true
	r.mu.Unlock()
	r.halfOpen = append(r.halfOpen, l)
	r.mayLose(l.client, true)
}

// lose is the broker seeing the end of a connection. A client that closes one by itself, though nothing went wrong, knows what it
// does: it says what it still holds.
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

// lost is how many clients have crashed.
func (r *run) lost() (n int) {
	for i := range r.clients {
		if r.clients[i].dead {
			n++
		}
	}
	return n
}

// drop has the broker drop one of a client's connections, counted from the one that it used last, or all where
// that is 0. The client does not know yet. In which order it opened them does not tell which is which: a process that has been at
// work before has opened some when it needed them, and others at once.
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

// untold are the connections of a client that is called for nothing that the broker has dropped, which it does not know.
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

// tell has a client see that its connections are gone, and do what it does for that by itself: it may connect again, and claim
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

// which is the action as it is carried out: a drop takes one of the connections that there are, or all where there
// is but one.
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

// breakPart has the server end a part of the client's connection, which finds out when it next uses it: the part of the client's
// first command at the gate, or else the one that it opened last.
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

// detect has the broker notice that the client's dead connections are dead.
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

// restart stops the broker and starts it again: connections end, and with them exclusive queues.
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

// cutIdle cuts the connections of those who don't play. They may not look at them for long, and would not
// answer if they were told.
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

// A reply that comes late is kept at the gate, with all that the broker says on its connection after it, until the schedule has it
// arrive. Meanwhile the others go on.

// keep keeps an answer at the gate: its step has it, its client does not. mu is held.
func (l *connection) keep(a gate.Answer) {
	s := l.client.runner
	l.kept = append(l.kept, a)
	if s.step.command != nil && a.Settles(s.step.command) {
		s.step.answer = a
		l.client.stalled = true
	}
	s.notify()
}

// stall has what the broker answers on a connection wait.
func (r *run) stall(l *connection) {
	r.mu.Lock()
	l.stalled = true
	r.mu.Unlock()
	r.harm(l.client)
}

// awaited reports whether something waits for a client at the gate.
func (p *clientState) awaited() bool {
	p.runner.mu.Lock()
	defer p.runner.mu.Unlock()
	return slices.ContainsFunc(p.connections, func(l *connection) bool { return l.stalled })
}

// kept is a client for which something waits at the gate, 0 for none.
func (r *run) kept() uint8 {
	for i := range r.clients {
		if p := &r.clients[i]; !p.dead && p.awaited() {
			return p.id
		}
	}
	return 0
}

// arrive has what waits for a client arrive.
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
