package external

import (
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
)

// A history of slots without numbers in which somebody counts them, or is told that one was removed, is decided.
func TestNumberless(t *testing.T) {
	h := history.History{Kind: lock.Semaphore, Clients: 2, Locks: []string{"jobs"}, Slots: []int{2}}
	for i, op := range []lock.Op{lock.Acquire, lock.Count, lock.Verify} {
		process, res := int32(1+i%2), lock.Result{Outcome: lock.Done, Slot: history.AnySlot, Held: op == lock.Acquire}
		switch op {
		case lock.Count:
			res.Slot, res.Slots = 0, 2
		case lock.Verify:
			res.Reason = lock.Removed
		}
		h.Events = append(h.Events, history.Invocation(process, 0, op, history.AnySlot, 0), history.Completion(process, 0, op, res))
	}
	if f := linear.Check(&h, linear.Options{}); f.Decision != linear.Undecided {
		t.Fatalf("as it is: %v", f)
	}
	if f := linear.Check(numberless(&h), linear.Options{}); f.Decision != linear.Legal {
		t.Errorf("%v", f)
	}
	if h.Events[3].Type != history.OK {
		t.Error("the history itself has changed")
	}
}
