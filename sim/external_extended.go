package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// extended makes holders extend their leases. A quarter of the scenarios do only this: a lease ends, or is about to
// end, before or while its holder extends it, and other clients want the lock.
func (d draw) extended(s *scenario.Scenario) {
	const a, x, r = lock.Acquire, lock.Refresh, lock.Release
	if d.shape.free() && len(s.Locks) == 1 && d.Bits(2) == 0 {
		s.Clients = []scenario.Client{{Ops: calls(a, x, x, r, a)}, {Ops: calls(a, a, a, a, x, r)}, {Ops: calls(a, a, a)}}[:2+d.Bits(1)]
		for i := range s.Clients { // a limit of 1, which matters only if callers state limits
			for j := range s.Clients[i].Ops {
				if o := &s.Clients[i].Ops[j]; o.Op == a && d.target.Kind == lock.Semaphore {
					o.Arg = 1
				}
			}
		}
		s.Steps, s.Faults = 0, nil
		d.queue(s)
		at := uint16(2 + d.Bits(2))
		s.Faults = append(s.Faults, scenario.Fault{Do: scenario.Idle, At: at, Arg: d.lapse()})
		if d.Bits(2) > 0 { // at the later idle time the first lease has ended, and the extended one may still last
			s.Faults = append(s.Faults, scenario.Fault{Do: scenario.Idle, At: at + 1 + uint16(d.Bits(2)), Arg: nearLease})
			s.Faults[0].Arg = nearLease
		}
		return
	}
	for i := range s.Clients {
		c := &s.Clients[i]
		for j := len(c.Ops) - 1; j >= 0; j-- {
			if c.Ops[j].Op == a && d.Bits(1) == 1 {
				c.Ops = slices.Insert(c.Ops, j+1, calls([]lock.Op{x, x}[:1+d.Bits(1)]...)...)
			}
		}
	}
}
