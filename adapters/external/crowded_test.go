package external

import (
	"testing"

	"github.com/lockproof/lockproof/model/execution"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// A client may be told that a lock is full because of another's acquire that was under way, unless that had got it before.
func TestCrowded(t *testing.T) {
	const full, granted, ended, never = 2, 3, 4, 5 // what happens first is 1: the other's acquire begins, or has ended
	for _, test := range []struct {
		name      string
		other     lock.Op
		held      bool
		ends      int
		withdrawn bool
	}{
		{"has it", lock.Acquire, true, 1, false},
		{"has it before the answer", lock.Acquire, true, full, false},
		{"has it after the answer", lock.Acquire, true, granted, true},
		{"got nothing", lock.Acquire, false, full, true},
		{"is not answered", lock.Acquire, false, never, true},
		{"removes", lock.Remove, false, ended, true},
		{"releases", lock.Release, false, ended, false},
	} {
		begun := history.Invocation(2, 0, test.other, history.AnySlot, 0)
		over := history.Completion(2, 0, test.other, lock.Result{Outcome: lock.Done, Held: test.held})
		asked := history.Invocation(1, 0, lock.Acquire, history.AnySlot, 0)
		told := history.Completion(1, 0, lock.Acquire, lock.Result{Outcome: lock.Done, Reason: lock.Full})
		var events []history.Event
		switch test.ends {
		case 1:
			events = []history.Event{begun, over, asked, told}
		case full:
			events = []history.Event{begun, asked, over, told}
		case never:
			events = []history.Event{begun, asked, told}
		default:
			events = []history.Event{begun, asked, told, over}
		}
		r := record{Record: execution.Record{Events: events}}
		r.crowded()
		for _, e := range events {
			if e.Process == 1 && e.Type == history.OK && (e.Reason == lock.NoReason) != test.withdrawn {
				t.Errorf("%s: the reason is %v", test.name, e.Reason)
			}
		}
	}
}
