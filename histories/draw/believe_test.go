package draw

import (
	"testing"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// TestBelieve checks which slot a client believes it holds after an event, if it held slot 2 before.
func TestBelieve(t *testing.T) {
	const invoke, ok, fail, info = history.Invoke, history.OK, history.Fail, history.Info
	for _, c := range []struct {
		kind   lock.Kind
		event  history.EventType
		op     lock.Op
		held   bool
		slot   uint16
		reason lock.Reason
		want   int
	}{
		{lock.Semaphore, invoke, lock.Acquire, false, history.AnySlot, 0, 2},
		{lock.Semaphore, invoke, lock.Acquire, true, 1, 0, 2}, // a call alone grants nothing
		{lock.Semaphore, invoke, lock.Verify, true, 1, 0, 2},
		{lock.Semaphore, invoke, lock.Release, false, 2, 0, 0},
		{lock.Semaphore, ok, lock.Acquire, true, 1, 0, 1},
		{lock.Semaphore, ok, lock.Acquire, true, history.AnySlot, 0, unnumbered},
		{lock.Mutex, ok, lock.Acquire, true, 1, 0, unnumbered},
		{lock.PersistentMutex, ok, lock.Acquire, true, 1, 0, unnumbered},
		{lock.Semaphore, fail, lock.Acquire, true, 1, 0, 2},
		{lock.Semaphore, fail, lock.Acquire, true, history.AnySlot, 0, 2},
		{lock.Mutex, info, lock.Acquire, true, 1, 0, 2},
		{lock.Semaphore, fail, lock.Acquire, false, 0, lock.Full, 2},
		{lock.Semaphore, fail, lock.Acquire, false, 0, lock.Disconnected, 0},
		{lock.Semaphore, info, lock.Acquire, false, 0, lock.TimedOut, 0},
		{lock.Semaphore, ok, lock.Verify, true, 3, 0, 3},
		{lock.Semaphore, ok, lock.Verify, false, 2, lock.Removed, 0},
		{lock.Semaphore, ok, lock.Verify, false, 2, 0, 0},
		{lock.Semaphore, fail, lock.Verify, false, 2, 0, 2},
		{lock.Semaphore, info, lock.Verify, false, 2, lock.Disconnected, 0},
		{lock.Semaphore, ok, lock.Release, false, 2, 0, 0},
		{lock.Semaphore, fail, lock.Release, false, 2, 0, 0},
		{lock.Semaphore, info, lock.Release, false, 2, 0, 0},
		{lock.Semaphore, ok, lock.Count, false, 0, 0, 2},
		{lock.Semaphore, ok, lock.Wait, false, 2, 0, 2},
		{lock.Semaphore, fail, lock.Add, false, 0, 0, 2},
	} {
		l := column{held: 2}
		l.believe(history.Event{Type: c.event, F: history.F(c.op), Held: c.held, Slot: c.slot, Reason: c.reason}, c.kind)
		if l.held != c.want || l.calling != (c.event == invoke) {
			t.Errorf("%v, %s %s %v %d %v: believes %d, want %d; calling %v", c.kind, c.event, c.op, c.held, c.slot, c.reason, l.held, c.want, l.calling)
		}
	}
}
