package monitor_test

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
)

// TestCrashedAdministrator: an administrator that dies may have changed some of the slots that it was asked to change,
// but no others. Otherwise the events have no linearization.
func TestCrashedAdministrator(t *testing.T) {
	for _, c := range []struct {
		op     lock.Op
		arg    uint8
		exists []uint16
		want   bool
	}{
		{lock.Add, 1, nil, true},
		{lock.Add, 1, []uint16{0b110}, true},
		{lock.Add, 1, []uint16{0b110, 0b1110}, false},
		{lock.Remove, 1, []uint16{0}, true},
		{lock.Remove, 1, []uint16{0b110}, false},
		{lock.Destroy, 0, []uint16{0}, true},
		{lock.Create, 2, []uint16{0b110}, true},
		{lock.Create, 2, []uint16{0b110, 0b1110}, false},
	} {
		var m monitor.Monitor
		truth := monitor.Truth{Exists: 0b10}
		m.Reset(lock.Semaphore, lock.Facts{}, 1, []monitor.Truth{truth})
		m.Begin(1, 0, c.op, c.arg, true)
		for _, truth.Exists = range c.exists {
			m.SetTruth(0, 1, &truth)
		}
		m.Crash(1)
		if m.Witnessed != c.want {
			t.Errorf("%s %d, slots %b: witnessed %v", c.op, c.arg, c.exists, m.Witnessed)
		}
	}
}

// TestSharedRelease: if all clients share a connection, a slot may still be taken after one client's release, because
// another client believes that it holds the slot.
func TestSharedRelease(t *testing.T) {
	for _, believers := range [][]uint8{{1}, {2}, {1, 2}, {2, 1}, {3, 2}} {
		var m monitor.Monitor
		m.Reset(lock.Semaphore, lock.Facts{SharedSession: true}, 3, []monitor.Truth{{Exists: 0b10}})
		taken := monitor.Truth{Exists: 0b10, Taken: 0b10}
		taken.Owner[1] = 1
		m.SetTruth(0, 1, &taken)
		for _, c := range believers {
			m.Begin(c, 0, lock.Acquire, 0, true)
			m.End(c, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
		}
		m.Found = 0
		m.Begin(believers[0], 0, lock.Release, 0, true)
		m.End(believers[0], lock.Result{Outcome: lock.Done}, 0, true)
		if got := m.Found.Has(property.EffectiveRelease); got != (len(believers) == 1) {
			t.Errorf("%v believe, and the first has released: violated %v", believers, got)
		}
	}
}

// TestEverySlot: a Truth's methods treat the slots 1 to Slots alike.
func TestEverySlot(t *testing.T) {
	for s := uint8(1); s <= monitor.Slots; s++ {
		truth := monitor.Truth{Exists: monitor.AllSlots, Taken: monitor.AllSlots &^ (1 << s)}
		if got := truth.Lowest(); got != s {
			t.Errorf("the lowest that is free is %d, want %d", got, s)
		}
		truth = monitor.Truth{Exists: monitor.AllSlots, Taken: 1 << s}
		truth.Owner[s], truth.Until[s], truth.Token[s], truth.Priority[s] = 1, 5, 6, 7
		if got := truth.Nearest(); got != 5 {
			t.Errorf("slot %d: the next lease ends at %d", s, got)
		}
		if truth.Lapse(4); truth.Taken != 1<<s {
			t.Errorf("slot %d: taken away too early", s)
		}
		if truth.Lapse(5); truth != (monitor.Truth{Exists: monitor.AllSlots}) {
			t.Errorf("slot %d: left is %+v", s, truth)
		}
	}
	if full := (monitor.Truth{Taken: monitor.AllSlots}); full.Lowest() != 0 || full.Nearest() != 0 {
		t.Errorf("%d, %d of a lock that is full", full.Lowest(), full.Nearest())
	}
}
