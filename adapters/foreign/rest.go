package foreign

import (
	"errors"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/gate"
)

// A client is at rest in two cases. Either its call has returned, and all that it wrote before is at the gate; or a command
// of it waits at the gate for its reply. Otherwise the runner waits for it with one patience. A client that sends nothing
// for so long is left alone until something comes from it: it computes, sleeps, or waits for another client. Nothing is
// judged by that, and it is counted.

// behindUnanswered is how long a client is waited for behind a command to which there is no reply: it may go on, or wait for what
// the command does.
const behindUnanswered = 50 * time.Millisecond

// waitTime is how long clients are told to wait for a lock, and lull how long one that was told so may send nothing before it is
// taken to wait.
const (
	waitTime = 250 * time.Millisecond
	lull     = 20 * time.Millisecond
)

// died reports whether a call has ended its client.
func died(err error) bool { return errors.Is(err, ErrDied) }

// settle waits until every client is at rest, and takes in what is over.
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

// calms waits until each client has something at the gate, is at rest, or waits for the lock. Those that wait are left alone.
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

// fanOut is how long a client that has sent a command to one of several servers is waited for: it may send some to the others.
const fanOut = 2 * time.Millisecond

// spread reports whether a client that waits for a reply has a command at the gate for each server. mu is held.
func (a *clientHandle) spread() bool {
	to := 0
	for _, c := range a.parked {
		to |= 1 << c.Endpoint()
	}
	return to == 0 || !a.calling || to == 1<<a.runner.server.Endpoints()-1
}

// all is whether something holds of every client of the run. mu is held when it is asked.
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

// leaveWaiting has the others go on without those who wait for the lock, until something comes from them or is sent to them.
func (r *run) leaveWaiting() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.clients {
		if a := r.clients[i].clientHandle; !a.quiet() && len(a.parked) == 0 && a.waits() {
			a.asleep = true
		}
	}
}

// leaveAlone has the others go on without those who do nothing.
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

// quiet reports whether the client is at rest, or is not waited for. mu is held.
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

// blocked reports whether the server keeps a command of the client waiting. mu is held.
func (a *clientHandle) blocked() bool {
	return slices.ContainsFunc(a.connections, func(l *connection) bool { return l.waiting() > 0 })
}

// waiting is how many commands of a connection the server keeps waiting. mu is held.
func (l *connection) waiting() (n int) {
	for _, c := range l.blocked {
		if c.Waits() {
			n++
		}
	}
	return n
}

// mayWait reports whether the client carries out an acquire that may wait for the lock. mu is held.
func (a *clientHandle) mayWait() bool { return !a.until.IsZero() }

// waits reports whether the client may be waiting for the lock. It is one that may wait, all that it has sent is answered,
// and it was not given anything since. mu is held.
func (a *clientHandle) waits() bool {
	return a.mayWait() && a.calling && !a.given && !slices.ContainsFunc(a.connections, func(l *connection) bool { return l.unheard > l.unanswerable() })
}

// behind reports whether a client has written what the gate has not seen yet. mu is held.
func (a *clientHandle) behind() (behind bool) {
	for _, l := range a.host.connections {
		behind = l.conn.Behind(a.runner.notify) || behind
	}
	return behind
}

// unanswerable is how many of a connection's commands are not answered by now: those that the server keeps waiting, and all where
// nobody listens any more. mu is held.
func (l *connection) unanswerable() int {
	if l.repliesDropped || l.cut || l.released || l.stalled {
		return l.unheard
	}
	return l.waiting()
}

// collect takes in which operations are over, which connections clients have closed, and what they tell unasked.
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

// hungUp are the connections of a client whose socket it has closed, and of which nothing is at the gate any more. mu is held.
func (r *run) hungUp(p *clientState) (hung []*connection) {
	for _, l := range p.connections {
		left := slices.ContainsFunc(p.parked, func(c gate.Command) bool { return c.Conn() == l.conn })
		if l.hungUp && !l.halfOpen && (l.released || !left) { // what it has sent before is still on its way
			hung = append(hung, l)
		}
	}
	return hung
}

// hangUp is a client that has closed its socket.
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

// How long a client is waited for that may give up waiting for a reply that comes late, and how often in vain.
const (
	givesUpWithin = 1300 * time.Millisecond
	mostInVain    = 3
)

// outlast gives a client whose reply comes late the time to give up by its own clock: what it does then is the point of such a
// reply. It is waited for a few times in vain.
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
