package external

import (
	"errors"
	"slices"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// pause stops a client for a while. One that can't be stopped stands still at the gate alone.
func (r *run) pause(c uint8, ms int64) {
	p := &r.clients[c-1]
	for _, o := range r.playing(p.clientHandle) {
		o.wake = r.now + ms
		r.event(history.Pause, o.process)
	}
	if err := p.client.Pause(); err != nil {
		r.uncontrolled.Unpaused++
		return
	}
	r.mu.Lock()
	p.paused = true
	r.mu.Unlock()
}

// harm notes that something befalls a process, or that it meets what has befallen it: what it holds may be given up for that.
func (r *run) harm(a *clientHandle) {
	a.dirty, a.harmed = true, true
	r.strike(a)
}

// strike notes that a process has met something for which it may give up its connection, and all that it holds by it.
func (r *run) strike(a *clientHandle) {
	for _, p := range r.playing(a) {
		p.struck = true
	}
}

// dwells reports whether a process may have yet to meet what has befallen it, in what it has got of another lock before.
func (r *run) dwells(p *clientState) bool {
	return slices.ContainsFunc(r.playing(p.clientHandle), func(o *clientState) bool { return o != p && o.held > 0 && o.struck })
}

// cutOff closes the client's side of a connection that the broker does not have any more.
func (r *run) cutOff(l *connection) { r.endBy(l, l.conn.Cut) }

// endBy is cutOff in a way of its own.
func (r *run) endBy(l *connection, end func()) {
	r.harm(l.client)
	r.mu.Lock()
	l.cut, l.client.cut = true, true
	r.leave(l)
	r.Runner.discard(func(c *wire.Command) bool { return c.Conn == l.conn })
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
	for _, p := range r.playing(l.client) {
		r.monitor.Lost(p.id)
		p.troubled, p.stale, p.shifted, p.cutOff, p.severed = true, true, true, true, true
	}
	if r.has(l) {
		if late {
			r.keepHalfOpen(l)
		} else {
			r.lose(l, byFault)
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
	r.changed(0)
}

// ending is why a connection ends.
type ending uint8

const (
	byItself ending = iota // its client has ended it, or had it ended by what it did
	byFault                // it was taken from its client, who knows, or is dead
	byBroker               // the broker dropped it, and its client does not know yet
)

// lose is the broker seeing the end of a connection.
func (r *run) lose(l *connection, why ending) {
	r.mu.Lock()
	l.released, l.halfOpen = true, false
	l.client.cut = l.client.cut || why != byItself
	r.mu.Unlock()
	l.conn.Release()
	var all []*clientState
	for i := range r.clients {
		switch p := &r.clients[i]; {
		case p.clientHandle == l.client:
			all = append(all, p)
			as := why
			if r.paired && as == byItself && !p.busy { // what its process did for another lock
				if as = byBroker; p.held > 0 && !p.struck {
					continue // for no reason: that frees nothing, as far as anybody was told
				}
			}
			r.sessionsLost(p, l, r.processOf(p.id, l.session()), as)
		case r.shared && p.current == l:
			all = append(all, p)
			r.sessionsLost(p, l, p.process, byBroker)
		}
	}
	r.changed(0)
	for _, p := range all {
		if !r.remains(p) {
			r.monitor.Freed(p.id)
		}
	}
}

// sessionsLost is a client losing a connection, which histories know as a process of its. Where the design is not known,
// what it gives up by ending a connection itself it has to know: that frees nothing, as far as it was told.
func (r *run) sessionsLost(p *clientState, l *connection, process int32, why ending) {
	c := p.id
	r.mu.Lock()
	granted := p.grant == l || p.grant == nil && (p.current == nil || p.current == l)
	r.mu.Unlock()
	p.bereft = p.bereft || granted && p.held > 0 && why == byBroker
	if p.shifted = true; why == byBroker {
		p.troubled, p.severed, p.stale = true, true, p.stale || p.held > 0 && granted
		p.cutOff = p.cutOff || p.busy
	}
	if why == byItself && p.struck { // it gives up what it has after something has befallen it, as after a loss
		p.severed = true
	}
	r.monitor.Gone(c, granted, why != byBroker)
	if r.design.Known() || why != byItself || p.dead {
		r.event(history.Gone, process)
	}
}

// remains reports whether the broker still has a connection of a client.
func (r *run) remains(p *clientState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(p.connections, func(l *connection) bool { return l.opened && !l.released })
}

// crash kills a client.
func (r *run) crash(c uint8, late bool) {
	p := &r.clients[c-1]
	if p.dead {
		return
	}
	all, open, processes := r.playing(p.clientHandle), r.open(p), make(map[uint8]int32)
	for _, p := range all {
		processes[p.id] = r.processOf(p.id, max(1, p.incarnation))
		if p.busy {
			processes[p.id], p.diedIn = p.process, p.op
			r.settles(p, lock.Unknown)
		}
		p.dead, p.busy = true, false
	}
	r.crashes = true
	if err := p.kill(); err != nil {
		r.record.trouble = errors.Join(r.record.trouble, err)
	}
	r.prepare(r.lost())
	for _, p := range all {
		r.event(history.Crash, processes[p.id])
		r.monitor.Crash(p.id)
	}
	for _, l := range open {
		if late {
			r.keepHalfOpen(l)
		} else {
			r.lose(l, byFault)
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
			r.lose(l, byBroker)
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
	r.mu.Lock()
	p.told(lostConnection)
	r.mu.Unlock()
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

// breakChannel has the broker close a channel of the client's, which finds out when it next uses it: the
// one that its first command at the gate is on, or else the one by which it holds something, or that it opened last.
func (r *run) breakChannel(c uint8) {
	p := &r.clients[c-1]
	r.harm(p.clientHandle)
	cmd := p.first()
	elsewhere := cmd == nil || cmd.Channel != p.grantedBy
	if l := p.grant; elsewhere && p.held > 0 && p.grantedBy > 0 && r.has(l) { // what it holds goes with that channel
		r.closeHolding(l, p.grantedBy)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := p.current
	if cmd != nil {
		l = r.connections[cmd.Conn]
	}
	switch {
	case l == nil:
	case cmd != nil && cmd.Channel > 0:
		l.broken = cmd.Channel
	case len(l.channels) > 0:
		l.broken = l.channels[len(l.channels)-1]
	}
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
		r.lose(l, byFault)
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
		p.troubled, p.severed, p.shifted, p.stale = true, true, true, p.held > 0
		p.cutOff = p.cutOff || p.busy
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
	r.broker.Restart()
	r.restarted = true
	r.event(history.Restart, history.Nemesis)
	r.survey()
	for l := range r.sc.Locks {
		if r.design.Known() {
			r.monitor.Restarted(uint8(l), &r.truth[l])
		} else {
			r.monitor.RestartedUnseen(uint8(l), &r.truth[l])
		}
	}
	for i := range r.clients {
		r.monitor.Freed(uint8(i + 1))
	}
}

// cutIdle cuts the connections of those who don't play. They may not look at them for long, and would not
// answer if they were told.
func (r *run) cutIdle() {
	var cut []*connection
	r.mu.Lock()
	for _, a := range r.handles {
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
