package sim

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// shared makes clients acquire only a share of the lock. With sums, an acquire takes several permits of a semaphore,
// for which all clients state the same limit. Otherwise half of the acquires of a mutex are in read mode.
func (d draw) shared(s *scenario.Scenario, sums bool) {
	limit := 2 + d.below(3)
	for i := range s.Clients {
		for j := range s.Clients[i].Ops {
			o := &s.Clients[i].Ops[j]
			switch {
			case o.Op != lock.Acquire:
			case sums:
				o.Arg, o.Share = uint8(limit), uint8(1+d.below(limit))
			case d.Bits(1) == 1:
				o.Share = scenario.Reading
			}
		}
	}
}
