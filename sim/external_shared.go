package sim

import (
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// shared makes clients take shares of the lock: a mutex in read or write mode, or several permits of a semaphore
// whose limit is the same for all.
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
