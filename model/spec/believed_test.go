package spec

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
)

// TestBelievedThroughout: who verifies while another is told that it holds the slot has believed all along if it
// is told that it still does, and may have known better if not.
func TestBelievedThroughout(t *testing.T) {
	for _, c := range []struct {
		name string
		held [2]bool // what the verify of each client says
		want Decision
	}{
		{"the first is told yes", [2]bool{true, false}, Illegal},
		{"the first is told no", [2]bool{false, true}, Legal},
		{"both are told yes", [2]bool{true, true}, Illegal},
		{"both are told no", [2]bool{false, false}, Legal},
	} {
		told := func(p int32, f F, held bool) Event {
			return Event{Process: p, Type: OK, F: f, Held: held, Slot: 1}
		}
		asked := func(p int32, f F) Event { return Event{Process: p, Type: Invoke, F: f, Slot: 1} }
		acquire, verify := F(lock.Acquire), F(lock.Verify)
		h := &History{Kind: lock.Mutex, Locks: []string{"jobs"}, Slots: []int{1}, Events: []Event{
			asked(1, acquire), asked(2, acquire),
			told(1, acquire, true), asked(1, verify),
			told(2, acquire, true), asked(2, verify), // each while the other may know better
			told(1, verify, c.held[0]), told(2, verify, c.held[1]),
		}}
		for _, v := range CheckHistory(h, LinearizableOptions{}) {
			if v.Property == MutualExclusion && v.Decision != c.want {
				t.Errorf("%s: %v (%s), want %v", c.name, v.Decision, v.Why, c.want)
			}
		}
	}
}
