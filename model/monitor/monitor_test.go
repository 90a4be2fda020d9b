package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestWitnessWantsAReasonForALoss: a dead client loses its slot with its connection. If it loses the slot in another
// way, the monitor knows no linearization of the events.
func TestWitnessWantsAReasonForALoss(t *testing.T) {
	const slot = 1 << 1
	free := Truth{Exists: slot}
	held := Truth{Exists: slot, Taken: slot, Owner: [Slots + 1]uint8{1: 1}}
	halfOpen := Truth{Exists: slot, Taken: slot, Owner: [Slots + 1]uint8{1: 1 | HalfOpen}}
	for _, noticed := range []bool{true, false} {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{free})
		m.At(1)
		m.Begin(1, 0, lock.Acquire, 0, true)
		m.SetTruth(0, 1, &held)
		m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
		m.Crash(1)
		m.SetTruth(0, 0, &halfOpen)
		m.At(2)
		if noticed {
			m.Gone(1, true, true)
		}
		m.SetTruth(0, 0, &free)
		if m.Witnessed != noticed {
			t.Errorf("the broker noticed %v, witnessed %v", noticed, m.Witnessed)
		}
	}
}

// TestWitnessKnowsWhoseTheLossIs: of two clients that share a connection, one can delete the other's B queue. Such an
// execution has no linearization.
func TestWitnessKnowsWhoseTheLossIs(t *testing.T) {
	const slot = 1 << 1
	free := Truth{Exists: slot}
	held := Truth{Exists: slot, Taken: slot, Owner: [Slots + 1]uint8{1: 1}}
	for _, op := range []lock.Op{lock.Acquire, lock.Verify, lock.Release} {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{SharedSession: true}, 2, []Truth{free})
		m.Begin(1, 0, lock.Acquire, 0, true)
		m.SetTruth(0, 1, &held)
		m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
		m.Begin(2, 0, op, 0, true)
		if !m.Witnessed {
			t.Fatal("nothing is wrong yet")
		}
		m.SetTruth(0, 2, &free)
		if m.Witnessed {
			t.Errorf("%s takes another's slot away, and the witness does not see it", op)
		}
	}
}

// TestWhatWasNeverGrantedIsNotStale: an acquire says held although it was granted nothing. Its belief is not stale even
// if the connection ended. It is stale if the slot was granted and lost with the connection before the answer.
func TestWhatWasNeverGrantedIsNotStale(t *testing.T) {
	const slot = 1 << 1
	free := Truth{Exists: slot}
	owned := func(c uint8) *Truth {
		return &Truth{Exists: slot, Taken: slot, Owner: [Slots + 1]uint8{1: c}}
	}
	yes := lock.Result{Outcome: lock.Done, Held: true, Slot: 1}
	for _, granted := range []bool{true, false} {
		var m Monitor
		m.Reset(lock.Mutex, lock.Facts{}, 2, []Truth{free})
		m.At(1)
		m.Begin(1, 0, lock.Acquire, 0, true)
		if granted {
			m.SetTruth(0, 1, owned(1))
		}
		m.At(2)
		m.Gone(1, true, false)
		m.SetTruth(0, 0, &free)
		m.At(3)
		m.Begin(2, 0, lock.Acquire, 0, true)
		m.SetTruth(0, 2, owned(2))
		m.End(2, yes, 1, true)
		m.At(4)
		m.End(1, yes, 1, false)
		if found := m.Found.Has(property.MutualExclusion); found == granted {
			t.Errorf("granted %v, mutual-exclusion violated %v", granted, found)
		}
		m.Begin(1, 0, lock.Verify, 1, false)
		m.End(1, yes, 1, false)
		if found := m.Found.Has(property.HonestVerify); !found {
			t.Errorf("granted %v, and verify says held: honest-verify holds", granted)
		}
	}
}

// TestWitnessOfAHalfOpenConnection: a client cannot delete the queues of its own half-open connection. The broker
// deletes them when it notices the end of the connection.
func TestWitnessOfAHalfOpenConnection(t *testing.T) {
	halfOpen := Truth{Exists: 1 << 1, Taken: 1 << 1, Owner: [Slots + 1]uint8{1: 1 | HalfOpen}}
	for _, op := range []lock.Op{lock.Acquire, lock.Release, lock.Verify} {
		for _, noticed := range []bool{false, true} {
			m := holding()
			m.At(1)
			m.SetTruth(0, 0, &halfOpen)
			m.Begin(1, 0, op, 0, true)
			m.At(2)
			if noticed {
				m.Gone(1, true, false)
			}
			m.SetTruth(0, 1, &slotOne.free)
			if m.Witnessed != noticed {
				t.Errorf("%s, noticed %v: witnessed %v", op, noticed, m.Witnessed)
			}
		}
	}
}

// TestWitnessOfAFailedVerify: if a verify gives the slot up and then fails, the history does not show the loss, so that
// there is no linearization.
func TestWitnessOfAFailedVerify(t *testing.T) {
	for _, gaveUp := range []bool{false, true} {
		m := holding()
		m.Begin(2, 0, lock.Remove, 1, true)
		m.SetTruth(0, 2, &Truth{Taken: 1 << 1, Owner: slotOne.held.Owner})
		m.End(2, lock.Result{Outcome: lock.Done}, 0, true)
		m.Begin(1, 0, lock.Verify, 0, true)
		if gaveUp {
			m.SetTruth(0, 1, &Truth{})
		}
		m.End(1, lock.Result{Outcome: lock.Failed, Reason: lock.TimedOut}, 1, true)
		if m.Witnessed == gaveUp {
			t.Errorf("gave it up %v, witnessed %v", gaveUp, m.Witnessed)
		}
	}
}
