package external

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/external/recognise"
	"github.com/lockproof/lockproof/model/lock"
)

// end opens the gate and tidies up. all says that the scenario has come to its end, so that what
// is left behind then is left for good. Where what destroying leaves is not judged, locks are deleted with their queues: on
// a simulated broker, that takes no commands of a client's.
func (r *run) end(all bool) error {
	clean := all && len(r.sc.Faults) == 0 && r.record.plain()
	r.resolve()
	for i := range r.clients {
		r.arrive(r.clients[i].clientHandle)
	}
	r.gate(true)
	r.release()
	for _, c := range r.disconnected {
		c.Release()
	}
	if err := r.finishCalls(); err != nil {
		return err
	}
	released, err := r.releaseAll()
	if err != nil {
		return err
	}
	r.cutCrossed()
	if all && released {
		if err := r.recovered(); err != nil {
			return err
		}
		if err := r.freed(); err != nil {
			return err
		}
		if err := r.revived(); err != nil {
			return err
		}
	}
	if !clean && !r.real() && !r.exchanges {
		return r.sweep(false)
	}
	destroyed, err := r.destroyAll()
	if err != nil {
		return err
	}
	return r.sweep(clean && released && destroyed)
}

// resolve lets clients know of what they don't yet: who was paused goes on, and connections are cut that
// the broker has dropped. What the broker has not noticed, it does.
func (r *run) resolve() {
	for _, l := range r.halfOpen {
		l.conn.Release()
		r.mu.Lock()
		l.halfOpen, l.released = false, true
		r.mu.Unlock()
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
			l.broken = 0
		}
		r.mu.Unlock()
	}
}

// replace cuts a connection, unless that was done, so that its client has to open another before the next run. mu is held.
func (r *run) replace(l *connection) {
	if !l.cut {
		l.cut, l.client.dirty, l.client.harmed = true, true, true
		r.leave(l)
		l.conn.Cut()
	}
}

// release lets go of connections whose clients have hung up, those of clients among them who don't play.
func (r *run) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.handles {
		for _, l := range slices.Clone(a.connections) {
			if l.hungUp {
				l.released = true
				a.forget(l)
				r.disconnected = append(r.disconnected, l.conn)
			}
		}
	}
}

// finishCalls waits for operations that the scenario left in their midst. Clients that don't come to an
// end are replaced.
func (r *run) finishCalls() error {
	for i := range r.clients {
		p := &r.clients[i]
		if !p.busy {
			continue
		}
		over, err := r.wait(r.ctx, r.lenience, func() bool { return !p.calling })
		if err != nil {
			return err
		}
		answer := p.take()
		switch {
		case !over || answer == nil:
			r.lenience = max(r.lenience/2, r.config.Finish) // others like it may come
			r.uncontrolled.Hung++
			err = p.kill()
		case errors.Is(answer.err, ErrDied):
			r.crashed(p.id, answer.err)
			err = p.kill()
		case answer.err != nil:
			err = answer.err
		case p.op == lock.Acquire && answer.result.Held:
			p.held, p.said = answer.result.Slot, answer.result.Slot
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// releaseAll has clients release what they hold. It is false if one did not do that.
func (r *run) releaseAll() (all bool, err error) {
	all = true
	for i := range r.clients {
		p := &r.clients[i]
		if p.client == nil || p.held == 0 {
			continue
		}
		name := r.place(r.sc.Locks[r.sc.Clients[i].Lock].Name)
		res, err := p.do(r.ctx, lock.Release, Params{Name: name, Slot: int(p.said)})
		switch {
		case errors.Is(err, ErrDied):
			r.crashed(p.id, err)
			err = p.kill()
		case errors.Is(err, errLasts) && p.harmed: // its driver may wait for what cannot come
			r.uncontrolled.Hung++
			err = p.kill()
		}
		if err != nil {
			return false, err
		}
		all = all && res.Outcome == lock.Done
	}
	return all, nil
}

// destroyAll has the setup client destroy the locks. It is false if that can't be done, or was not.
func (r *run) destroyAll() (all bool, err error) {
	if r.config.Kind == lock.Mutex {
		return true, nil
	}
	if !r.supports(lock.Destroy) || r.handles[0].client == nil {
		return false, nil
	}
	all = r.sc.HistoryTells() // behind a hole nobody finds what is to be destroyed
	for _, l := range r.sc.Locks {
		res, err := r.handles[0].do(r.ctx, lock.Destroy, Params{Name: r.place(l.Name)})
		if errors.Is(err, ErrDied) {
			r.crashed(0, err)
			return false, r.handles[0].kill()
		}
		if err != nil {
			return false, fmt.Errorf("destroying lock %s: %w", l.Name, err)
		}
		all = all && res.Outcome == lock.Done
	}
	return all, nil
}

// stays reports whether what a lock leaves may have to stay: nobody destroys it, or its next token has to be larger.
func (r *run) stays() bool {
	return r.config.Kind == lock.Mutex && r.design.Holding != recognise.ByQueue || r.about.Tokens
}

// sweep deletes what queues are left. clean says that there should be none.
func (r *run) sweep(clean bool) error {
	left, owners := r.left(r.before)
	if r.shared { // the connection stays
		left, owners = r.unshared(left, owners), nil
	}
	for _, name := range left {
		if clean && r.ours(name) && !r.stays() {
			r.monitor.Leftover("after everything was released and destroyed, " + r.canonical(name) + " is left")
		}
	}
	r.mu.Lock()
	for _, c := range owners {
		if l := r.connections[c]; l != nil {
			l.client.dirty, l.client.harmed, l.cut = true, true, true
			r.leave(l)
		}
	}
	r.mu.Unlock()
	for _, c := range owners { // exclusive queues go with them
		if c != nil {
			c.Cut()
		}
	}
	return r.broker.remove(slices.DeleteFunc(left, func(name string) bool { return owners[name] != nil }))
}
