package external

import (
	"github.com/lockproof/lockproof/model/lock"
)

// Callers of some locks state how many may hold them at once, with each acquire. A lock of that kind that nobody creates has no
// slots: it is full when as many hold it as its caller says.

// limitOfProbes is the limit that is stated while it is learnt by what a lock is held: two clients hold it at once.
const limitOfProbes = 2

// noSlots is why it is not known by what such locks are held.
const noSlots = "nobody creates it, so that it has no slots, but for the limits that callers state"

// Numberless reports whether any slot is as good as another: they are messages without numbers, or limits that callers state.
func (s *Runner) Numberless() bool { return s.design.Permits() || s.about.Slotless() }

// most is how many slots a lock may have in the course of a scenario, or the largest limit that somebody states, where it has
// no others.
func (r *run) most(l uint8) int {
	most, added, limit := int(r.sc.Locks[l].Slots), 0, 1
	for _, c := range r.sc.Clients {
		if c.Lock != int(l) {
			continue
		}
		for _, op := range c.Ops {
			switch n := int(op.Arg); op.Op {
			case lock.Create:
				most = max(most, n)
			case lock.Add:
				added += n
			case lock.Acquire:
				limit = max(limit, n)
			}
		}
	}
	if r.about.Slotless() {
		return limit
	}
	return most + added
}

// limited reports whether a client's acquire may have been refused for the limit that it stated, though there were slots left.
func (r *run) limited(p *clientState) bool {
	return r.about.Limits && p.op == lock.Acquire && int(p.arg) < r.most(r.lockOf(p.id))
}
