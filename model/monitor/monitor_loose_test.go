package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
)

// TestVouches: a verify or refresh has a linearization if its client has the lease throughout, or loses it and is told
// that it holds nothing. It has none if the client loses the lease and is told that it holds it. It also has none if
// the client loses and reacquires the lease, whatever it is told.
func TestVouches(t *testing.T) {
	free := Truth{Exists: 0b10}
	mine, others := free, free
	mine.Taken, mine.Until[1] = 0b10, 1000
	others = mine
	mine.Owner[1], others.Owner[1] = 1, 2
	held, gone := lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, lock.Result{Outcome: lock.Done}
	for _, op := range []lock.Op{lock.Verify, lock.Refresh} {
		for _, c := range []struct {
			name   string
			truths []Truth // successive states of the lock during the call
			answer lock.Result
			want   bool
		}{
			{"it has it all along", nil, held, true},
			{"it has it, and says no", nil, gone, true},
			{"it loses it, and says so", []Truth{free}, gone, true},
			{"it loses it, and says held", []Truth{free}, held, false},
			{"it loses it and gets it anew", []Truth{free, mine}, held, false},
			{"it loses it, gets it anew, and says no", []Truth{free, mine}, gone, false},
			{"somebody else has it in between", []Truth{free, others, free, mine}, held, false},
		} {
			var m Monitor
			m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{free})
			m.Has(lock.Leases)
			m.Begin(1, 0, lock.Acquire, 0, true)
			m.SetTruth(0, 1, &mine)
			m.End(1, held, 1, true)
			if !m.Witnessed {
				t.Fatal("an acquire is no witness")
			}
			m.Begin(1, 0, op, 0, true)
			for i := range c.truths {
				by := uint8(1)
				if c.truths[i].Owner[1] == 2 {
					m.Begin(2, 0, lock.Acquire, 0, true)
					by = 2
				}
				m.SetTruth(0, by, &c.truths[i])
			}
			m.End(1, c.answer, 1, true)
			if m.Witnessed != c.want {
				t.Errorf("%s: %s: witnessed %v", op, c.name, m.Witnessed)
			}
		}
	}
}
