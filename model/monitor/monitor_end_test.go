package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// slotOne are the states of a lock with one slot: free, held by client 1, or held without an owner.
var slotOne = struct{ free, held, orphaned Truth }{
	free:     Truth{Exists: 1 << 1},
	held:     Truth{Exists: 1 << 1, Taken: 1 << 1, Owner: [Slots + 1]uint8{1: 1}},
	orphaned: Truth{Exists: 1 << 1, Taken: 1 << 1}, // its B queue has no owner
}

// holding is a monitor of two clients, of which client 1 holds the only slot.
func holding() *Monitor {
	m := new(Monitor)
	m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{slotOne.free})
	m.Begin(1, 0, lock.Acquire, 0, true)
	m.SetTruth(0, 1, &slotOne.held)
	m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
	return m
}

// TestVerifySaysWhatIsStillTrue: a verify may say held only if the client still has the slot when it ends. If the
// client's connection was lost during the call, it is enough that it had the slot at some moment of the call.
func TestVerifySaysWhatIsStillTrue(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(*Monitor)
		honest  bool
	}{
		{"nothing happens", func(*Monitor) {}, true},
		{"the client gives the slot up", func(m *Monitor) { m.SetTruth(0, 1, &slotOne.free) }, false},
		{"the connection is lost", func(m *Monitor) {
			m.Gone(1, true, false)
			m.SetTruth(0, 0, &slotOne.free)
		}, true},
	} {
		m := holding()
		m.Begin(1, 0, lock.Verify, 0, true)
		c.happens(m)
		m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
		if m.Found.Has(property.HonestVerify) == c.honest {
			t.Errorf("%s: found %b", c.name, m.Found)
		}
	}
}

// TestReleaseLeavesTheSlotFree: a release that succeeds must delete the slot's B queue, with or without an owner,
// unless another client has claimed the slot since.
func TestReleaseLeavesTheSlotFree(t *testing.T) {
	for _, c := range []struct {
		name      string
		left      Truth
		effective bool
	}{
		{"the queue is gone", slotOne.free, true},
		{"it is still the client's", slotOne.held, false},
		{"it is still there, and nobody's own", slotOne.orphaned, false},
		{"it is another's", Truth{Exists: 1 << 1, Taken: 1 << 1, Owner: [Slots + 1]uint8{1: 2}}, true},
	} {
		m := holding()
		m.Begin(2, 0, lock.Acquire, 0, true)
		m.Begin(1, 0, lock.Release, 0, true)
		m.SetTruth(0, 1, &c.left)
		m.End(1, lock.Result{Outcome: lock.Done, Slot: 1}, 0, true)
		if m.Found.Has(property.EffectiveRelease) == c.effective {
			t.Errorf("%s: found %b", c.name, m.Found)
		}
	}
}

// TestReleaseKeepsTheSlot: a release that deletes the slot itself violates effective-release and has no linearization,
// since only administrators may remove slots.
func TestReleaseKeepsTheSlot(t *testing.T) {
	for _, op := range []lock.Op{lock.Release, lock.Remove} {
		m := holding()
		if op == lock.Remove {
			m.Begin(2, 0, lock.Remove, 1, true)
			m.SetTruth(0, 2, &Truth{Taken: 1 << 1, Owner: slotOne.held.Owner})
			m.End(2, lock.Result{Outcome: lock.Done}, 0, true)
		}
		m.Begin(1, 0, lock.Release, 0, true)
		m.SetTruth(0, 1, &Truth{})
		m.End(1, lock.Result{Outcome: lock.Done, Slot: 1}, 0, true)
		if effective := op == lock.Remove; m.Found.Has(property.EffectiveRelease) == effective || m.Witnessed != effective {
			t.Errorf("the slot goes with %s: found %b, witnessed %v", op, m.Found, m.Witnessed)
		}
	}
}

// TestAnsweredWithNo: an acquire that fails was granted nothing, so that it is not judged whether its slot existed.
func TestAnsweredWithNo(t *testing.T) {
	m := holding()
	m.Begin(2, 0, lock.Acquire, 0, true)
	m.End(2, lock.Result{Outcome: lock.Done, Reason: lock.Full}, 0, true)
	if m.Found != 0 || !m.Witnessed {
		t.Errorf("found %b, witnessed %v", m.Found, m.Witnessed)
	}
}
