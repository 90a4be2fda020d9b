package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestBelievedThroughout: one client verifies while another acquires its slot. If the verify says held, its client has
// believed all along that it holds the slot. If it says no, the client may have learnt of the loss before.
func TestBelievedThroughout(t *testing.T) {
	for _, c := range []struct {
		name string
		held [2]bool // whether each client's verify says held
		want linear.Decision
	}{
		{"the first is told yes", [2]bool{true, false}, linear.Illegal},
		{"the first is told no", [2]bool{false, true}, linear.Legal},
		{"both are told yes", [2]bool{true, true}, linear.Illegal},
		{"both are told no", [2]bool{false, false}, linear.Legal},
	} {
		told := func(p int32, f history.F, held bool) history.Event {
			return history.Event{Process: p, Type: history.OK, F: f, Held: held, Slot: 1}
		}
		asked := func(p int32, f history.F) history.Event {
			return history.Event{Process: p, Type: history.Invoke, F: f, Slot: 1}
		}
		acquire, verify := history.F(lock.Acquire), history.F(lock.Verify)
		h := &history.History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{1}, Events: []history.Event{
			asked(1, acquire), asked(2, acquire),
			told(1, acquire, true), asked(1, verify),
			told(2, acquire, true), asked(2, verify), // the verify of one client overlaps the acquire of the other
			told(1, verify, c.held[0]), told(2, verify, c.held[1]),
		}}
		b := beliefs.New(h, linear.Options{})
		for i := range h.Events {
			b.Event(i, &h.Events[i])
		}
		for _, v := range b.Verdicts() {
			if v.Property == property.MutualExclusion && v.Decision != c.want {
				t.Errorf("%s: %v (%s), want %v", c.name, v.Decision, v.Why, c.want)
			}
		}
	}
}

// TestGrantGoesWithItsConnection: an acquire says held after the connection of its grant was lost. The belief is then
// stale, not a violation of mutual-exclusion. Without a grant it is a violation. The same holds for a monitor that
// keeps only the state that mutual-exclusion needs.
func TestGrantGoesWithItsConnection(t *testing.T) {
	for _, granted := range []bool{true, false} {
		for _, forgets := range []bool{true, false} {
			var m Monitor
			m.Reset(lock.Mutex, lock.Facts{}, 2, []Truth{{Exists: 1 << 1}})
			m.Begin(1, 0, lock.Acquire, 0, true)
			had := Truth{Exists: 1 << 1}
			if granted {
				had.Owner[1], had.Taken = 1, 1<<1
			}
			m.SetTruth(0, 1, &had)
			if forgets {
				m.Forget(property.Set(0).With(property.MutualExclusion), property.Weak)
			}
			m.Gone(1, true, false)
			m.SetTruth(0, 0, &Truth{Exists: 1 << 1})
			if forgets {
				m.Forget(property.Set(0).With(property.MutualExclusion), property.Weak)
			}
			m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, false)
			other := Truth{Exists: 1 << 1, Taken: 1 << 1}
			other.Owner[1] = 2
			m.SetTruth(0, 2, &other)
			if got := m.Found.Has(property.MutualExclusion); got == granted {
				t.Errorf("granted %v, forgets %v: mutual-exclusion is violated: %v", granted, forgets, got)
			}
		}
	}
}
