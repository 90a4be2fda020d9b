package foreign

import (
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/scenario"
)

// rest ends all faults and operations. Paused clients continue, replies arrive, connections that the broker has dropped are
// cut, and the broker notices every dead client and connection.
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
	if !r.about.Leases { // leases have not ended yet
		r.event(history.Audit, 0)
	}
	r.endStep()
	return nil
}

// resolve ends half-open connections and pauses, and cuts the connections that the server has dropped.
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

// replace cuts a connection, unless it is cut already, so that its client has to open another. mu is held.
func (r *run) replace(l *connection) {
	if !l.cut {
		l.cut, l.client.dirty, l.client.harmed = true, true, true
		r.leave(l)
		l.conn.Cut()
	}
}

// release lets the server see the end of every connection that its client has closed, including connections of clients
// outside the scenario.
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

// finishCalls waits for operations that were under way when the scenario ended. A client whose operation does not end is
// killed, and counted as hung.
func (r *run) finishCalls() error {
	for i := range r.clients {
		p := &r.clients[i]
		over, err := r.goOn(r.lenience, func() bool { return !p.busy })
		if err != nil {
			return err
		}
		if !over {
			r.lenience = max(r.lenience/2, leastLenience) // other clients may hang as well
			r.uncontrolled.Hung++
			r.crash(p.id, false)
		}
	}
	return nil
}

// goOn passes commands, one at a time and each in a step of its own, until over returns true and no command waits at the
// gate. It returns false if that takes longer than limit.
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
			if !r.nextComes() {
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
		if now := &r.record.Step; now.Action.Client != c || now.Command != "" { // otherwise the command belongs to the step that began the operation
			r.endStep()
			r.record.Begin(scenario.Action{Kind: scenario.Audit, Client: c})
		}
		r.deliver(c, r.clients[c-1].first(), false)
	}
}

// comesBy waits until a client sends something or gets an answer, and returns false if that takes longer than limit. The
// client may be computing, or waiting by its own clock. If the server keeps a client waiting, comesBy lets time pass.
func (r *run) comesBy(limit time.Duration) (bool, error) {
	if came, err := r.wait(r.ctx, min(lull, limit), r.comes); came || err != nil {
		return came, err
	}
	if r.outlastBlocked() {
		return true, nil
	}
	return r.wait(r.ctx, limit, r.comes)
}

// waiting returns the next client, in turn, that has a command at the gate, or 0 for none. A client that keeps sending
// without an operation does not count.
func (r *run) waiting() uint8 {
	for range r.clients {
		r.last = r.last%uint8(len(r.clients)) + 1
		if p := &r.clients[r.last-1]; p.first() != nil && (p.busy || !p.chatters()) {
			return r.last
		}
	}
	return 0
}

// comes reports whether a client has a command or an answer at the gate. mu is held.
func (r *run) comes() bool {
	for i := range r.clients {
		if p := &r.clients[i]; len(p.parked) > 0 || p.answer != nil {
			return true
		}
	}
	return false
}

// elapse lets virtual milliseconds pass, if the server's time is virtual. Whatever clients do by their own timers meanwhile
// is carried out.
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

// idles lets time pass at rest, so that everything that expires has expired. With leases or sessions, and with virtual time, it
// first lets two of them pass. If clients are still active by themselves then, it stops there: they may go on for ever.
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

// longestExpiry returns the virtual milliseconds after which every item has expired that has an expiry time.
func (r *run) longestExpiry() (ms int64) {
	for _, item := range r.server.Items() {
		ms = max(ms, 2*item.Lasts)
	}
	return ms
}
