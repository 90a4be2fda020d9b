package spec

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
)

// TestCheckHistory: what a history alone shows broken beside linearizability.
func TestCheckHistory(t *testing.T) {
	call := func(p int32, op lock.Op, slot uint16) Event {
		return Event{Process: p, Type: Invoke, F: F(op), Slot: slot}
	}
	acquired := func(p int32, slot uint16) Event {
		return Event{Process: p, Type: OK, F: F(lock.Acquire), Slot: slot, Held: true}
	}
	held := func(p int32, slot uint16, yes bool) Event {
		return Event{Process: p, Type: OK, F: F(lock.Verify), Slot: slot, Held: yes, Reason: lock.Disconnected}
	}
	failed := func(p int32, op lock.Op, r lock.Reason) Event {
		return Event{Process: p, Type: Fail, F: F(op), Reason: r}
	}
	happened := func(f F, p int32) Event { return Event{Process: Nemesis, Target: p, Type: Info, F: f} }
	one := []Event{call(1, lock.Acquire, 0), acquired(1, 1)}
	two := []Event{call(2, lock.Acquire, 0), acquired(2, 1)}
	for _, test := range []struct {
		name     string
		property Property
		events   [][]Event
		illegal  bool
	}{
		{"two holders", MutualExclusion, [][]Event{one, two}, true},
		{"one after the other", MutualExclusion, [][]Event{one, {call(1, lock.Release, 1)}, two}, false},
		{"after a crash", MutualExclusion, [][]Event{one, {happened(Crash, 1), happened(Gone, 1)}, two}, false},
		{"beside a stale belief", MutualExclusion, [][]Event{one, {happened(Gone, 1)}, two}, false},
		{"after a restart", MutualExclusion, [][]Event{one, {happened(Restart, Nemesis)}, two}, false},
		{"told no", MutualExclusion, [][]Event{one, {call(1, lock.Verify, 1), held(1, 1, false)}, two}, false},
		{"stale belief goes on", StaleBeliefEnds, [][]Event{one, {happened(Gone, 1), call(1, lock.Verify, 1), held(1, 1, true)}}, true},
		{"stale belief ends", StaleBeliefEnds, [][]Event{one, {happened(Gone, 1), call(1, lock.Verify, 1), held(1, 1, false)}}, false},
		{"gone while it is asked", StaleBeliefEnds, [][]Event{one, {call(1, lock.Verify, 1), happened(Gone, 1), held(1, 1, true)}}, false},
		{"gives up alone", Progress, [][]Event{{call(1, lock.Acquire, 0), failed(1, lock.Acquire, lock.GaveUp)}}, true},
		{"gives up in company", Progress, [][]Event{{call(1, lock.Acquire, 0), call(2, lock.Acquire, 0), failed(1, lock.Acquire, lock.GaveUp)}}, false},
		{"busy alone", Progress, [][]Event{{call(1, lock.Destroy, 0), failed(1, lock.Destroy, lock.Busy)}}, true},
		{"busy in company", Progress, [][]Event{{call(2, lock.Destroy, 0), call(1, lock.Destroy, 0), failed(1, lock.Destroy, lock.Busy)}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{2}}
			for _, part := range test.events {
				h.Events = append(h.Events, part...)
			}
			if err := Validate(h); err != nil {
				t.Fatal(err)
			}
			for _, v := range CheckHistory(h, LinearizableOptions{}) {
				if illegal := v.Decision == Illegal; v.Property == test.property && illegal != test.illegal {
					t.Errorf("%s: %s %s", v.Property, v.Decision, v.Why)
				}
			}
		})
	}
}
