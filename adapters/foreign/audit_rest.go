package foreign

import (
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/scenario"
)

// rest ends all faults and operations. It resumes paused clients and delivers late replies. It cuts connections that
// the broker has dropped, and makes the broker notice all dead clients and connections. Operations under way may end.
func (r *run) rest() error {
	r.record.Begin(scenario.Action{Kind: scenario.Audit})
	r.auditing = true
	r.resolve()
	for i := range r.clients {
		r.arrive(r.clients[i].clientHandle)
	}
	r.release()
	for _, c := range r.disconnected {
		c.Release()
	}
	if err := r.finishCalls(); err != nil {
		return err
	}
	r.atRest = len(r.record.Events)
	if !r.about.Leases { // with leases, audit records the event later, when they have ended
		r.event(history.Audit, 0)
	}
	r.endStep()
	return nil
}

// resolve makes the server notice half-open connections, resumes paused clients, and cuts the connections that the
// server has dropped.
func (r *run) resolve() {
	for _, l := range r.halfOpen {
		l.conn.Release()
		r.mu.Lock()
		l.halfOpen, l.released = false, true
		r.mu.Unlock()
		if c := r.numberOf(l.client); c > 0 {
			r.event(history.Gone, c)
		}
	}
	r.halfOpen = nil
	for i := range r.clients {
		p := &r.clients[i]
		p.dirty = p.dirty || p.dead
		if p.paused {
			p.wakeUp()
		}
		r.mu.Lock()
		for _, l := range slices.Clone(p.connections) {
			if l.released && l.opened {
				r.replace(l)
			}
			l.conn.Mend()
		}
		r.mu.Unlock()
	}
}

// replace cuts a connection, if it is not cut, so that its client has to open a new one. The caller must hold mu.
func (r *run) replace(l *connection) {
	if !l.cut {
		l.cut, l.client.dirty, l.client.harmed = true, true, true
		r.leave(l)
		l.conn.Cut()
	}
}

// release tells the server of every connection that its client has closed, also for clients outside the scenario.
func (r *run) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.everybody() {
		for _, l := range slices.Clone(a.connections) {
			if l.hungUp {
				l.released = true
				a.forget(l)
				r.disconnected = append(r.disconnected, l.conn)
			}
		}
	}
}

// finishCalls waits for the operations that are under way when the scenario ends. If an operation does not end in time,
// its client is killed and counted as hung.
func (r *run) finishCalls() error {
	for i := range r.clients {
		p := &r.clients[i]
		over, err := r.goOn(r.lenience, func() bool { return !p.busy })
		if err != nil {
			return err
		}
		if !over {
			r.lenience = max(r.lenience/2, leastLenience) // other clients may hang as well, so wait less
			r.uncontrolled.Hung++
			r.crash(p.id, false)
		}
	}
	return nil
}

// goOn lets commands pass, one at a time and each in its own step, until over returns true and no command waits at the
// gate. It is false if that takes longer than limit, or if all clients are calm and nothing more can happen.
func (r *run) goOn(limit time.Duration, over func() bool) (bool, error) {
	for began := time.Now(); ; {
		if err := r.settle(); err != nil {
			return false, err
		}
		c := r.waiting()
		switch {
		case c == 0 && over():
			return true, nil
		case time.Since(began) > limit:
			return false, nil
		case c == 0 && r.timed():
			if calm := r.calm(); !r.nextComes() && calm {
				return false, nil
			}
			continue
		case c == 0:
			came, err := r.comesBy(limit - time.Since(began))
			if err != nil || !came {
				return false, err
			}
			continue
		}
		// A command gets a new step, unless the current step is the call of its operation and has no command yet.
		if now := &r.record.Step; now.Action.Client != c || now.Command != "" {
			r.endStep()
			r.record.Begin(scenario.Action{Kind: scenario.Audit, Client: c})
		}
		r.deliver(c, r.clients[c-1].first(), false)
	}
}

// comesBy waits until a client sends a command or completes an operation. It is false if that takes longer than limit.
// A client may be computing or waiting by its own clock. If the server keeps a client waiting, comesBy lets virtual
// time pass.
func (r *run) comesBy(limit time.Duration) (bool, error) {
	if came, err := r.wait(r.ctx, min(lull, limit), r.comes); came || err != nil {
		return came, err
	}
	if r.outlastBlocked() {
		return true, nil
	}
	return r.wait(r.ctx, limit, r.comes)
}

// waiting is the next client, in turn, with a command at the gate; 0 if there is none. It skips clients that keep
// sending between operations.
func (r *run) waiting() uint8 {
	for range r.clients {
		r.last = r.last%uint8(len(r.clients)) + 1
		if p := &r.clients[r.last-1]; p.first() != nil && (p.busy || !p.chatters()) {
			return r.last
		}
	}
	return 0
}

// comes reports whether a client has a command at the gate, or a result that was not handled yet. The caller must hold
// mu.
func (r *run) comes() bool {
	for i := range r.clients {
		if p := &r.clients[i]; len(p.parked) > 0 || p.answer != nil {
			return true
		}
	}
	return false
}

// elapse lets ms milliseconds of virtual time pass, if the server has virtual time. Commands that clients send
// meanwhile because of their timers pass.
func (r *run) elapse(ms int64) error {
	for r.server.Ours() && ms > 0 {
		step := earlier(ms, milliseconds(r.nextTimer(anybody)))
		r.passOn(step)
		if ms -= step; ms == 0 {
			break
		}
		if _, err := r.goOn(r.lenience, func() bool { return true }); err != nil {
			return err
		}
	}
	for i := range r.clients {
		p := &r.clients[i]
		p.restless = p.restless || p.unasked > 0 && p.held == 0
	}
	return nil
}

// idles lets time pass at rest, so that everything that expires has expired. With leases or sessions, and with virtual
// time, it first lets two of them pass. If clients are still active by themselves then, it stops there: they may go on
// for ever.
func (r *run) idles() error {
	ms, session := max(restTime, r.longestExpiry()), r.session()
	watched := max(2*LeaseTime.Milliseconds(), r.longestExpiry(), 2*session)
	if (r.about.Leases || session > 0) && r.timed() && watched < ms {
		if err := r.elapse(watched); err != nil || r.nextTimer(anybody) > 0 {
			return err
		}
		ms -= watched
	}
	return r.elapse(ms)
}

// longestExpiry is the time in virtual milliseconds after which all items with an expiry have expired.
func (r *run) longestExpiry() (ms int64) {
	for _, item := range r.server.Items() {
		ms = max(ms, 2*item.Lasts)
	}
	return ms
}
