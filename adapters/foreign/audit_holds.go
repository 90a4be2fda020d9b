package foreign

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// giveBack lets fresh clients acquire what they can get. Each client that believes to hold a lock then verifies it, and
// all release it. Afterwards all locks should be free, even before leases end.
func (r *run) giveBack() error {
	for l := range r.sc.Locks {
		believers := r.believers(uint8(l))
		if len(believers) == 0 {
			continue
		}
		if err := r.challenge(uint8(l)); err != nil {
			return err
		}
		for _, p := range believers {
			if err := r.affirm(p, uint8(l)); err != nil {
				return err
			}
		}
		if err := r.releases(uint8(l)); err != nil {
			return err
		}
	}
	for l := range r.sc.Locks {
		if err := r.freesAtOnce(uint8(l)); err != nil {
			return err
		}
	}
	return r.endUnsure()
}

// affirm makes client p, which believes to hold lock l, verify it. If p still believes so afterwards, affirm makes p
// refresh its lease. If the lease has ended, another client may hold l by now, and a wrong lock extends the lease
// nevertheless.
func (r *run) affirm(p *clientState, l uint8) error {
	for _, op := range []lock.Op{lock.Verify, lock.Refresh} {
		if !r.supports(op) || !scenario.Sensible(op, p.held > 0) {
			continue
		}
		if _, err := r.asks(p, l, op); err != nil {
			return err
		}
	}
	return nil
}

// endUnsure kills the clients that cannot know whether they hold something: whatever they hold must become free then. A
// client of a mutex whose acquire has no known end releases the mutex instead. If the release succeeds, the client
// lives on, and nothing that it has may keep the mutex from others.
func (r *run) endUnsure() error {
	for i := range r.sc.Clients {
		p := &r.clients[i]
		if p.dead || !p.unsure {
			continue
		}
		if sure, err := r.disowns(p); err != nil {
			return err
		} else if sure || p.dead {
			continue
		}
		r.record.Begin(scenario.Action{Kind: scenario.Audit, Client: p.id})
		r.crash(p.id, false)
		r.endStep()
		if _, err := r.wait(r.ctx, r.config.Patience, p.hasHungUp); err != nil {
			return err
		}
	}
	return nil
}

// disowns makes client p release a mutex that it may hold since an acquire without a known end. It reports whether p
// certainly holds nothing afterwards.
func (r *run) disowns(p *clientState) (sure bool, err error) {
	if r.config.Kind != lock.Mutex || r.fragile || p.op != lock.Acquire || p.result.Outcome != lock.Unknown {
		return false, nil
	}
	res, err := r.asks(p, p.lock, lock.Release)
	if err != nil || p.dead || res.Outcome != lock.Done {
		return false, err
	}
	p.unsure = false
	return true, nil
}

// hasHungUp reports whether all sockets of a client are closed. The caller must hold mu.
func (a *clientHandle) hasHungUp() bool {
	return !slices.ContainsFunc(a.connections, func(l *connection) bool { return !l.hungUp })
}

// believers are the living clients that believe to hold lock l.
func (r *run) believers(l uint8) (all []*clientState) {
	for i := range r.clients {
		if p := &r.clients[i]; !p.dead && p.client != nil && p.held > 0 && p.lock == l {
			all = append(all, p)
		}
	}
	return all
}

// challenge makes fresh clients acquire lock l, which other clients believe to hold, until one is refused.
func (r *run) challenge(l uint8) error {
	_, most := r.slots(l)
	for k := 0; k <= most; k++ {
		p, err := r.auditor(k)
		if err != nil {
			return err
		}
		if held, err := r.obtains(p, l, 1); err != nil || !held {
			return err
		}
	}
	return nil
}

// releases makes every client that believes to hold lock l release it.
func (r *run) releases(l uint8) error {
	for _, p := range r.believers(l) {
		if _, err := r.asks(p, l, lock.Release); err != nil {
			return err
		}
	}
	return nil
}
