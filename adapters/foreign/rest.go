package foreign

import (
	"errors"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
)

// A client is at rest in two cases. Either its call has returned, and everything that it wrote is at the gate; or one
// of its commands at the gate waits for a reply. Otherwise the runner waits for it, for Timing.Patience. If the client
// sends nothing for that long, it computes, sleeps, or waits for another client. The others then go on without it until
// it sends something. This is counted, and no verdict depends on it.

// behindUnanswered is how long the runner waits for a client after a command that has no reply. The client may continue
// at once or wait for the command's effect.
const behindUnanswered = 50 * time.Millisecond

// waitTime is how long clients are told to wait for a lock. lull is how long such a client may send nothing until the
// runner assumes that it waits.
const (
	waitTime = 250 * time.Millisecond
	lull     = 20 * time.Millisecond
)

// died reports whether err says that a call has ended its client.
func died(err error) bool { return errors.Is(err, ErrDied) }

// settle waits until every client is at rest, and then handles completed operations.
func (r *run) settle() error {
	if r.timed() {
		return r.settleTimed()
	}
	calm, err := r.calms()
	if err == nil && calm && r.server.Endpoints() > 1 && !r.auditing {
		_, err = r.wait(r.ctx, fanOut, r.all((*clientHandle).spread))
	}
	if err == nil && calm {
		calm, err = r.wait(r.ctx, min(behindUnanswered, r.config.Patience), r.all((*clientHandle).quiet))
	}
	if err != nil {
		return err
	}
	if !calm {
		r.leaveAlone()
	}
	r.mu.Lock()
	for i := range r.clients {
		a := r.clients[i].clientHandle
		a.rested, a.fanned = !a.calling && a.quiet(), a.calling && len(a.parked) > 0 && !r.auditing
	}
	r.mu.Unlock()
	return r.collect()
}

// calms waits until each client has a command at the gate, is at rest, or waits for the lock. The others then go on
// without those that wait for the lock. It returns false if that takes longer than Timing.Patience.
func (r *run) calms() (bool, error) {
	calm, err := r.wait(r.ctx, r.config.Patience, r.all(func(a *clientHandle) bool { return a.quiet() || len(a.parked) > 0 || a.waits() }))
	if err != nil || !calm {
		return false, err
	}
	calm, err = r.wait(r.ctx, lull, r.all(func(a *clientHandle) bool { return a.quiet() || len(a.parked) > 0 }))
	if err == nil && !calm {
		r.leaveWaiting()
	}
	return err == nil, err
}

// fanOut is how long the runner waits for further commands of a client that has sent a command to one of several
// servers.
const fanOut = 2 * time.Millisecond

// spread reports whether no further command of the client is expected soon. This is so if no command of it is at the
// gate, if it has no call under way, or if it has a command at the gate for each server. The caller must hold mu.
func (a *clientHandle) spread() bool {
	to := 0
	for _, c := range a.parked {
		to |= 1 << c.Endpoint()
	}
	return to == 0 || !a.calling || to == 1<<a.runner.server.Endpoints()-1
}

// all returns a function that reports whether quiet is true for all clients of the run. Its caller must hold mu.
func (r *run) all(quiet func(*clientHandle) bool) func() bool {
	return func() bool {
		for i := range r.clients {
			if !quiet(r.clients[i].clientHandle) {
				return false
			}
		}
		return true
	}
}

// leaveWaiting lets others go on without the clients that wait for the lock. This ends when such a client sends or
// receives something.
func (r *run) leaveWaiting() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.clients {
		if a := r.clients[i].clientHandle; !a.quiet() && len(a.parked) == 0 && a.waits() {
			a.asleep = true
		}
	}
}

// leaveAlone lets others go on without the clients that are not at rest and send nothing, and counts them.
func (r *run) leaveAlone() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.clients {
		a := r.clients[i].clientHandle
		switch {
		case a.quiet():
		case len(a.parked) > 0:
			r.uncontrolled.Unanswered++
		default:
			a.asleep = true
			if !a.mayWait() {
				r.uncontrolled.Thought++
			}
		}
	}
}

// quiet reports whether the client is at rest, or the runner does not wait for it. The caller must hold mu.
func (a *clientHandle) quiet() bool {
	if a.client == nil || a.asleep || a.paused {
		return true
	}
	for _, l := range a.connections {
		if l.unheard > l.unanswerable() {
			return false
		}
	}
	if !a.calling {
		return !a.behind()
	}
	return a.stalled || a.blocked() || slices.ContainsFunc(a.parked, func(c gate.Command) bool { return c.Replies() })
}

// blocked reports whether the server keeps a command of the client waiting. The caller must hold mu.
func (a *clientHandle) blocked() bool {
	return slices.ContainsFunc(a.connections, func(l *connection) bool { return l.waiting() > 0 })
}

// waiting is the number of commands of a connection that the server keeps waiting. The caller must hold mu.
func (l *connection) waiting() (n int) {
	for _, c := range l.blocked {
		if c.Waits() {
			n++
		}
	}
	return n
}

// mayWait reports whether the client's operation is an acquire that may wait for the lock. The caller must hold mu.
func (a *clientHandle) mayWait() bool { return !a.until.IsZero() }

// waits reports whether the client may be waiting for the lock. Its operation may wait, all its commands are answered,
// and it was sent nothing else since. The caller must hold mu.
func (a *clientHandle) waits() bool {
	return a.mayWait() && a.calling && !a.given && !slices.ContainsFunc(a.connections, func(l *connection) bool { return l.unheard > l.unanswerable() })
}

// behind reports whether a client has written something that the gate has not received yet. The caller must hold mu.
func (a *clientHandle) behind() (behind bool) {
	for _, l := range a.host.connections {
		behind = l.conn.Behind(a.runner.notify) || behind
	}
	return behind
}

// unanswerable is the number of a connection's commands for which no answer is expected now: the server keeps them
// waiting, or answers do not reach the client. The caller must hold mu.
func (l *connection) unanswerable() int {
	if l.repliesDropped || l.cut || l.released || l.stalled {
		return l.unheard
	}
	return l.waiting()
}

// collect handles what has happened at the clients: completed operations, closed connections, and reports of lost
// locks.
func (r *run) collect() error {
	tellings := r.tellings()
	r.losses(tellings, true)
	r.mu.Lock()
	var hung []*connection
	var over []uint8
	for i := range r.clients {
		p := &r.clients[i]
		if r.numberOf(p.clientHandle) == p.id {
			hung = append(hung, r.hungUp(p)...)
		}
		if p.answer != nil && p.busy {
			over = append(over, p.id)
		}
	}
	r.mu.Unlock()
	for _, l := range hung {
		r.hangUp(l)
	}
	for _, c := range over {
		if err := r.complete(c); err != nil {
			return err
		}
	}
	r.losses(tellings, false)
	return nil
}

// hungUp are the connections that client p has closed and that have no command at the gate any more. The caller must
// hold mu.
func (r *run) hungUp(p *clientState) (hung []*connection) {
	for _, l := range p.connections {
		left := slices.ContainsFunc(p.parked, func(c gate.Command) bool { return c.Conn() == l.conn })
		if l.hungUp && !l.halfOpen && (l.released || !left) { // commands sent before the close must pass first
			hung = append(hung, l)
		}
	}
	return hung
}

// hangUp handles a connection whose socket the client has closed.
func (r *run) hangUp(l *connection) {
	if r.has(l) {
		r.uncontrolled.HungUp++
		r.lose(l, true)
	}
	l.conn.Release()
	r.mu.Lock()
	l.client.forget(l)
	r.mu.Unlock()
}

// How long to wait for a client to give up waiting for a late reply, and how many such waits in total may have no
// result.
const (
	givesUpWithin = 1300 * time.Millisecond
	mostInVain    = 3
)

// outlast gives client p time to give up waiting for a reply that is late. A late reply is meant to test how p reacts.
// After mostInVain waits without result, outlast no longer waits for clients without virtual time.
func (r *run) outlast(p *clientState) error {
	if r.timed() {
		if next := r.nextTimer(func(o *clientState) bool { return o.clientHandle == p.clientHandle }); next > 0 {
			r.passOn(milliseconds(next))
		}
		return nil
	}
	if r.inVain >= mostInVain {
		return nil
	}
	did, err := r.wait(r.ctx, givesUpWithin, func() bool { return p.answer != nil || len(p.parked) > 0 })
	if err == nil && !did {
		r.inVain++
	}
	return err
}
