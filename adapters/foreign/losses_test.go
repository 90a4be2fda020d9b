package foreign

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestHearsAfterFaults: after faults, clients get time to report losses only if no lease has to last for the judgement
// whether another lock is freed at once.
func TestHearsAfterFaults(t *testing.T) {
	silent := clientState{id: 1, held: 1, loss: loss{to: 3}}
	for name, c := range map[string]struct {
		first, second clientState
		befell        befell
		hears         bool
	}{
		"nobody is silent":           {clientState{id: 1, held: 1}, clientState{id: 2, lock: 1}, befell{}, false},
		"the other lock is unused":   {silent, clientState{id: 2, lock: 1}, befell{}, true},
		"the other lock has a lease": {silent, clientState{id: 2, lock: 1, lease: lease{ends: 20}}, befell{}, false},
		"that lease has ended":       {silent, clientState{id: 2, lock: 1, lease: lease{ends: 10}}, befell{}, true},
		"a client has paused":        {silent, clientState{id: 2, lock: 1, lease: lease{ends: 20}}, befell{paused: true}, true},
		"both are silent":            {silent, clientState{id: 2, lock: 1, held: 1, loss: loss{to: 3}, lease: lease{ends: 20}}, befell{}, true},
	} {
		r := &run{
			Runner: &Runner{config: Config{Kind: lock.Mutex}, about: About{Leases: true, Losses: true}}, now: 10, befell: c.befell,
			sc: &scenario.Scenario{Locks: make([]scenario.Lock, 2)}, clients: []clientState{c.first, c.second},
		}
		if hears := r.hearsAfterFaults(); hears != c.hears {
			t.Errorf("%s: %v, expected %v", name, hears, c.hears)
		}
	}
}
