package beliefs

import (
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestCheckHistory: the violations that a Judge finds in histories, one property each.
func TestCheckHistory(t *testing.T) {
	call := func(p int32, op lock.Op, slot uint16) history.Event {
		return history.Event{Process: p, Type: history.Invoke, F: history.F(op), Slot: slot}
	}
	acquired := func(p int32, slot uint16) history.Event {
		return history.Event{Process: p, Type: history.OK, F: history.F(lock.Acquire), Slot: slot, Held: true}
	}
	held := func(p int32, slot uint16, yes bool) history.Event {
		return history.Event{Process: p, Type: history.OK, F: history.F(lock.Verify), Slot: slot, Held: yes, Reason: lock.Disconnected}
	}
	fenced := func(p int32, token int64) []history.Event {
		e := acquired(p, uint16(p))
		e.Token = token
		return []history.Event{call(p, lock.Acquire, 0), e}
	}
	released := func(p int32) []history.Event {
		return []history.Event{call(p, lock.Release, uint16(p)), {Process: p, Type: history.OK, F: history.F(lock.Release), Slot: uint16(p)}}
	}
	both := func(first, second int64) []history.Event { // both acquire at once; client 2 is answered first
		a, b := fenced(1, first), fenced(2, second)
		return []history.Event{a[0], b[0], b[1], a[1]}
	}
	destroy := []history.Event{call(3, lock.Destroy, 0), {Process: 3, Type: history.OK, F: history.F(lock.Destroy)}}
	failed := func(p int32, op lock.Op, r lock.Reason) history.Event {
		return history.Event{Process: p, Type: history.Fail, F: history.F(op), Reason: r}
	}
	happened := func(f history.F, p int32) history.Event {
		return history.Event{Process: history.Nemesis, Target: p, Type: history.Info, F: f}
	}
	one := []history.Event{call(1, lock.Acquire, 0), acquired(1, 1)}
	two := []history.Event{call(2, lock.Acquire, 0), acquired(2, 1)}
	for _, test := range []struct {
		name     string
		property property.Property
		events   [][]history.Event
		illegal  bool
	}{
		{"two holders", property.MutualExclusion, [][]history.Event{one, two}, true},
		{"one after the other", property.MutualExclusion, [][]history.Event{one, {call(1, lock.Release, 1)}, two}, false},
		{"after a crash", property.MutualExclusion, [][]history.Event{one, {happened(history.Crash, 1), happened(history.Gone, 1)}, two}, false},
		{"beside a stale belief", property.MutualExclusion, [][]history.Event{one, {happened(history.Gone, 1)}, two}, false},
		{"after a restart", property.MutualExclusion, [][]history.Event{one, {happened(history.Restart, history.Nemesis)}, two}, false},
		{"told no", property.MutualExclusion, [][]history.Event{one, {call(1, lock.Verify, 1), held(1, 1, false)}, two}, false},
		{"stale belief goes on", property.StaleBeliefEnds, [][]history.Event{one, {happened(history.Gone, 1), call(1, lock.Verify, 1), held(1, 1, true)}}, true},
		{"stale belief ends", property.StaleBeliefEnds, [][]history.Event{one, {happened(history.Gone, 1), call(1, lock.Verify, 1), held(1, 1, false)}}, false},
		{"gone while it is asked", property.StaleBeliefEnds, [][]history.Event{one, {call(1, lock.Verify, 1), happened(history.Gone, 1), held(1, 1, true)}}, false},
		{"gives up alone", property.Progress, [][]history.Event{{call(1, lock.Acquire, 0), failed(1, lock.Acquire, lock.GaveUp)}}, true},
		{"gives up while others acquire", property.Progress, [][]history.Event{{call(1, lock.Acquire, 0), call(2, lock.Acquire, 0), failed(1, lock.Acquire, lock.GaveUp)}}, false},
		{"busy alone", property.Progress, [][]history.Event{{call(1, lock.Destroy, 0), failed(1, lock.Destroy, lock.Busy)}}, true},
		{"tokens grow", property.FencingMonotone, [][]history.Event{fenced(1, 7), released(1), fenced(1, 9), fenced(2, 10)}, false},
		{"the same token again", property.FencingMonotone, [][]history.Event{fenced(1, 7), released(1), fenced(1, 7)}, true},
		{"a smaller token for another slot", property.FencingMonotone, [][]history.Event{fenced(1, 7), fenced(2, 3)}, true},
		{"tokens of which nobody knows which was first", property.FencingMonotone, [][]history.Event{both(7, 9), released(1), released(2), both(12, 11)}, false},
		{"smaller than either of those", property.FencingMonotone, [][]history.Event{both(7, 9), released(1), fenced(1, 8)}, true},
		{"a lock that was destroyed begins again", property.FencingMonotone, [][]history.Event{fenced(1, 7), destroy, fenced(2, 1)}, false},
		{"or may have been", property.FencingMonotone, [][]history.Event{fenced(1, 7), destroy[:1], fenced(2, 1)}, false},
		{"after that they grow", property.FencingMonotone, [][]history.Event{fenced(1, 7), destroy, fenced(2, 1), fenced(4, 1)}, true},
		{"busy while others administer", property.Progress, [][]history.Event{{call(2, lock.Destroy, 0), call(1, lock.Destroy, 0), failed(1, lock.Destroy, lock.Busy)}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{2}}
			for _, part := range test.events {
				h.Events = append(h.Events, part...)
			}
			if err := linear.Validate(h); err != nil {
				t.Fatal(err)
			}
			for _, v := range judge(h, linear.Options{}) {
				if illegal := v.Decision == linear.Illegal; v.Property == test.property && illegal != test.illegal {
					t.Errorf("%s: %s %s", v.Property, v.Decision, v.Why)
				}
			}
		})
	}
}

// TestNothingToChange: an administrator of a lock of unknown design may say that it changed nothing if there may be
// nothing to change.
func TestNothingToChange(t *testing.T) {
	call := func(p int32, op lock.Op, slots uint16) history.Event {
		return history.Event{Process: p, Type: history.Invoke, F: history.F(op), Slots: slots}
	}
	ended := func(p int32, op lock.Op, how history.EventType, r lock.Reason) history.Event {
		return history.Event{Process: p, Type: how, F: history.F(op), Reason: r, Held: op == lock.Acquire, Slot: 1}
	}
	done := func(p int32, op lock.Op, slots uint16) []history.Event {
		e := ended(p, op, history.OK, lock.NoReason)
		if op.Administrative() {
			e.Slot = 0
		}
		return []history.Event{call(p, op, slots), e}
	}
	busy := func(op lock.Op, slots uint16) []history.Event {
		e := ended(1, op, history.Fail, lock.Busy)
		e.Held, e.Slot = false, 0
		return []history.Event{call(1, op, slots), e}
	}
	crashed := func(op lock.Op, slots uint16) []history.Event {
		return []history.Event{call(2, op, slots), {Process: 2, Type: history.Info, F: history.F(op), Reason: lock.Crashed}}
	}
	// The second operation begins during the first, and ends during the third.
	overlapping := func(p, q int32, op lock.Op) []history.Event {
		end := func(p int32) history.Event { return history.Event{Process: p, Type: history.OK, F: history.F(op)} }
		return []history.Event{call(p, op, 1), call(q, op, 1), end(p), call(p, op, 1), end(q), end(p)}
	}
	release := []history.Event{{Process: 2, Type: history.Invoke, F: history.F(lock.Release), Slot: 1}, {Process: 2, Type: history.OK, F: history.F(lock.Release), Slot: 1}}
	for _, test := range []struct {
		name    string
		events  [][]history.Event
		illegal bool
	}{
		{"add after the last slot was removed", [][]history.Event{done(2, lock.Remove, 2), busy(lock.Add, 1)}, false},
		{"add after more were removed than there are", [][]history.Event{done(2, lock.Remove, 3), busy(lock.Add, 1)}, false},
		{"add after one of two was removed", [][]history.Event{done(2, lock.Remove, 1), busy(lock.Add, 1)}, true},
		{"add after one was added again", [][]history.Event{done(2, lock.Remove, 2), done(2, lock.Create, 1), busy(lock.Add, 1)}, true},
		{"add after a removal that has no answer", [][]history.Event{crashed(lock.Remove, 2), busy(lock.Add, 1)}, false},
		{"add after a removal that was refused", [][]history.Event{done(2, lock.Remove, 1), busy(lock.Remove, 2), busy(lock.Add, 1)}, true},
		{"add after removals that overlapped", [][]history.Event{overlapping(2, 3, lock.Remove), overlapping(2, 3, lock.Add), busy(lock.Add, 1)}, false},
		{"create after a destruction", [][]history.Event{done(2, lock.Destroy, 0), busy(lock.Create, 1)}, true},
		{"removal of more than there are", [][]history.Event{busy(lock.Remove, 3)}, false},
		{"removal of as many as there are", [][]history.Event{busy(lock.Remove, 2)}, true},
		{"destruction of what is held", [][]history.Event{done(2, lock.Acquire, 0), busy(lock.Destroy, 0)}, false},
		{"destruction of what was released", [][]history.Event{done(2, lock.Acquire, 0), release, busy(lock.Destroy, 0)}, true},
		{"add to what is held", [][]history.Event{done(2, lock.Acquire, 0), busy(lock.Add, 1)}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &history.History{Kind: lock.Semaphore, Locks: []string{"jobs"}, Slots: []int{2}, GoneMayFree: true}
			for _, part := range test.events {
				h.Events = append(h.Events, part...)
			}
			if err := linear.Validate(h); err != nil {
				t.Fatal(err)
			}
			for _, v := range judge(h, linear.Options{}) {
				if illegal := v.Decision == linear.Illegal; v.Property == property.Progress && illegal != test.illegal {
					t.Errorf("%s %s", v.Decision, v.Why)
				}
			}
		})
	}
}
