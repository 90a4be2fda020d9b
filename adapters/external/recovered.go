package external

import (
	"fmt"

	"github.com/lockproof/lockproof/adapters/wire"
)

// A driver that recovers by a clock of its own may take again, long after its connection was lost, what its client has said that it
// has not any more: it declares the exclusive queue anew, or consumes. Where clients were seen to open connections while nobody
// called them, and where that is to be shown again, it is waited for when all is over.

// mostRecoveries are waited for in a run.
const mostRecoveries = 3

// Recovers has it waited for drivers that recover, whether or not they were seen to do so.
func (s *Runner) Recovers(so bool) { s.recovers = so }

// reopens takes in that a client without any connection opens one while nobody calls it. mu is held.
func (s *Runner) reopens(a *clientHandle) {
	if a.linked && !a.calling && len(a.connections) == 0 && a.client != nil {
		s.config.Learnt.revival.learn(true)
	}
}

// awaits reports whether it is to be waited for a driver to recover.
func (g *revival) awaits(asked bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if asked {
		return !g.looked || g.itself
	}
	if !g.itself || g.awaited == mostRecoveries {
		return false
	}
	g.awaited++
	return true
}

// waited takes in what came of it. Where a driver did not recover after all, it is waited for none any more.
func (g *revival) waited(came bool) {
	g.learn(came)
	if !came {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.awaited = mostRecoveries
	}
}

// recovered judges whether drivers take again what was lost with their connections.
func (r *run) recovered() error {
	if !r.design.Known() || r.design.Permits() || r.shared || r.real() {
		return nil
	}
	for i := range r.clients {
		p := &r.clients[i]
		if p.dead || !p.bereft || p.client == nil || !r.config.Learnt.revival.awaits(r.recovers) {
			continue
		}
		r.looking(true)
		came, err := r.awaitRecovery(p)
		r.looking(false)
		if err != nil {
			return err
		}
		r.config.Learnt.revival.waited(came)
		if came && r.takes(p) {
			r.monitor.Leftover(fmt.Sprintf("%s has lost the lock with its connection, and given it up, and has it again: its driver took it when it recovered", ClientName(int(p.id))))
		}
	}
	return nil
}

// awaitRecovery waits until a client has opened a connection, and does nothing more by it. It is false where it does not.
func (r *run) awaitRecovery(p *clientState) (came bool, err error) {
	came, err = r.wait(r.ctx, r.config.Timing.Revival, func() bool { return p.current != nil })
	for before := -1; came && err == nil && before != p.clientHandle.since; {
		r.mu.Lock()
		before = p.clientHandle.since
		r.mu.Unlock()
		_, err = r.wait(r.ctx, r.config.Timing.Recovery, func() bool { return false })
	}
	return came, err
}

// takes reports whether a client has a slot, or the mutex.
func (r *run) takes(p *clientState) (has bool) {
	l := r.lockOf(p.id)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broker.Observe(func(v wire.State) {
		t := r.surveyed(v, l)
		for s, owner := range t.Owner {
			has = has || t.Taken&(1<<s) != 0 && owner == p.id
		}
	})
	return has
}
