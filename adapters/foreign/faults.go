package foreign

import (
	"errors"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/spec"
)

// pause stops a client for a while. One that can't be stopped stands still at the gate alone.
func (r *run) pause(c uint8, ms int64) {
	p := &r.players[c-1]
	p.wake = r.now + ms
	r.event(spec.Pause, p.process)
	if err := p.client.Pause(); err != nil {
		r.unruled.Unpaused++
		return
	}
	r.mu.Lock()
	p.paused = true
	r.mu.Unlock()
}

// cutOff closes the client's side of a connection that the broker does not have any more.
func (r *run) cutOff(l *link) {
	r.mu.Lock()
	l.cut = true
	r.leave(l)
	l.actor.shaken = true
	r.Stage.discard(func(c *wire.Command) bool { return c.Conn == l.conn })
	r.mu.Unlock()
	l.conn.Cut()
	r.gone(l)
}

// gone waits until the socket is closed, so that the client sees that before anything else happens.
func (r *run) gone(l *link) {
	r.wait(r.ctx, r.config.Patience, func() bool { return l.hungUp })
}

// loseReply is a reply that never arrives: the connection breaks on its way.
func (r *run) loseReply(c uint8, l *link, late bool) {
	r.monitor.Lost(c)
	r.players[c-1].troubled, r.players[c-1].stale = true, true
	if r.has(l) {
		if late {
			r.haunt(l)
		} else {
			r.lose(l, c, true)
		}
	}
	r.cutOff(l)
}

// haunt has the broker keep a connection that its client has given up.
func (r *run) haunt(l *link) {
	r.mu.Lock()
	l.ghost = true
	r.mu.Unlock()
	r.ghosts = append(r.ghosts, l)
	r.changed(0)
}

// lose is the broker seeing the end of a connection; own says that it is the client's own doing.
func (r *run) lose(l *link, c uint8, own bool) {
	r.mu.Lock()
	l.released, l.ghost = true, false
	r.mu.Unlock()
	l.conn.Release()
	for i := range r.players {
		if p := &r.players[i]; p.number == int(c) {
			r.bereave(p, l, l.process, own)
		} else if r.shared && p.current == l {
			r.bereave(p, l, p.process, false)
		}
	}
}

// bereave is a client losing a connection, which histories know as a process of its.
func (r *run) bereave(p *player, l *link, process int32, own bool) {
	c := uint8(p.number)
	r.mu.Lock()
	granted := p.grant == l || p.grant == nil && (p.current == nil || p.current == l)
	r.mu.Unlock()
	if !own {
		p.troubled, p.stale = true, p.stale || p.held > 0 && granted
	}
	r.monitor.Gone(c, granted, own)
	r.event(spec.Gone, process)
	r.changed(0)
	r.monitor.Freed(c)
}

// crash kills a client.
func (r *run) crash(c uint8, late bool) {
	p := &r.players[c-1]
	if p.dead {
		return
	}
	process := r.processOf(c, max(1, p.incarnation))
	if p.busy {
		process = p.process
	}
	open := r.open(p)
	p.dead, p.busy = true, false
	if err := p.kill(); err != nil {
		r.record.trouble = errors.Join(r.record.trouble, err)
	}
	r.event(spec.Crash, process)
	r.monitor.Crash(c)
	for _, l := range open {
		if late {
			r.haunt(l)
		} else {
			r.lose(l, c, true)
		}
	}
}

// drop has the broker drop a client's connections. The client does not know yet.
func (r *run) drop(c uint8) {
	p := &r.players[c-1]
	p.shaken = true
	for _, l := range r.open(p) {
		r.lose(l, c, false)
	}
}

// breakChannel has the broker close a channel of the client's, which finds out when it next uses it: the
// one that its first command at the gate is on, or else the one that it opened last.
func (r *run) breakChannel(c uint8) {
	p := &r.players[c-1]
	cmd := p.first()
	r.mu.Lock()
	defer r.mu.Unlock()
	p.shaken = true
	l := p.current
	if cmd != nil {
		l = r.links[cmd.Conn]
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
	p := &r.players[c-1]
	var rest []*link
	for _, l := range r.ghosts {
		if l.actor != p.actor {
			rest = append(rest, l)
			continue
		}
		r.lose(l, c, true)
		r.mu.Lock()
		if l.hungUp {
			l.actor.forget(l)
		}
		r.mu.Unlock()
	}
	r.ghosts = rest
}

// restart stops the broker and starts it again: connections end, and with them exclusive queues.
func (r *run) restart() {
	r.mu.Lock()
	var all []*link
	for i := range r.players {
		p := &r.players[i]
		p.shaken, p.troubled, p.stale = true, true, p.held > 0
		for _, l := range p.links {
			if !l.released {
				l.released, l.ghost = true, false
				all = append(all, l)
			}
		}
	}
	r.mu.Unlock()
	for _, l := range all {
		l.conn.Release()
	}
	r.ghosts = nil
	r.cutIdle()
	r.broker.Restart()
	r.event(spec.Restart, spec.Nemesis)
	r.survey()
	for l := range r.sc.Locks {
		r.monitor.Restarted(uint8(l), &r.truth[l])
	}
	for i := range r.players {
		r.monitor.Freed(uint8(i + 1))
	}
}

// cutIdle cuts the connections of those who don't play. They may not look at them for long, and would not
// answer if they were told.
func (r *run) cutIdle() {
	var cut []*link
	r.mu.Lock()
	for _, a := range r.actors {
		if a.number > 0 && a.number <= len(r.players) {
			continue
		}
		a.shaken = true
		for _, l := range a.links {
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
