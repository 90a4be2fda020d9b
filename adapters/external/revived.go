package external

import "github.com/lockproof/lockproof/model/lock"

// A restart of the broker may take away what a mutex needs and leave what says that it is there. Whoever wants a mutex may make what
// it misses, so that what the broker has does not show whether that is lost: it is asked for when all is over.

// asksForRevived reports whether it is asked for mutexes when the broker has been restarted. A persistent one may have been destroyed
// by who administers; and somebody may have a lock on a connection that several share, or because others stated another limit.
func (r *run) asksForRevived() bool {
	return r.restarted && r.config.Kind != lock.Semaphore && !r.administers() && !r.shared && !r.about.Limits
}

// revived judges whether mutexes can be acquired after a restart. Whoever may have one without knowing it dies first; the client that
// asks has had none.
func (r *run) revived() error {
	if !r.asksForRevived() {
		return nil
	}
	if err := r.endUnsure(); err != nil {
		return err
	}
	for _, l := range r.sc.Locks {
		if r.config.Kind == lock.PersistentMutex && l.Slots == 0 { // it was never made
			continue
		}
		if r.handles[0].client == nil {
			return nil
		}
		// an error of one that asks the broker for nothing says that it has not come back itself
		there, err := r.obtains(r.handles[0], r.place(l.Name), 2*resetTries, func(asked bool) bool { return !asked })
		if err != nil {
			return err
		}
		r.monitor.Revived(there)
	}
	return nil
}

// endUnsure has those clients die who may have a lock without knowing it, and waits until the broker has seen that.
func (r *run) endUnsure() error {
	for i := range r.clients {
		p := &r.clients[i]
		if p.dead || !p.unsure && !p.gaveUp && !p.busy {
			continue
		}
		if err := p.kill(); err != nil {
			return err
		}
		if _, err := r.wait(r.ctx, r.config.Patience, func() bool { return len(p.connections) == 0 }); err != nil {
			return err
		}
	}
	return nil
}
