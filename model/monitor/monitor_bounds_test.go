package monitor

import (
	"bytes"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestGivingUp: an acquire may give up only after its last allowed attempt. If the number of attempts is unknown, it
// may give up after one refused attempt.
func TestGivingUp(t *testing.T) {
	for _, c := range []struct {
		name    string
		unbound bool
		refused int
		right   bool
	}{
		{"at once", false, 0, false},
		{"before the last", false, 2, false},
		{"after the last", false, 3, true},
		{"at once, with no bound known", true, 0, false},
		{"after one, with no bound known", true, 1, true},
	} {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{Retries: 2}, 2, []Truth{slotOne.free})
		if c.unbound {
			m.Unbound()
		}
		m.Begin(1, 0, lock.Acquire, 0, true)
		for range c.refused {
			touch(&m, 1, backend.Holder, 1, amqp.Command{Method: amqp.QueueDeclare}, amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.ResourceLocked})
		}
		m.End(1, lock.Result{Outcome: lock.Failed, Reason: lock.GaveUp}, 0, true)
		if m.Found.Has(property.Progress) == c.right {
			t.Errorf("%s: found %b", c.name, m.Found)
		}
	}
}

// TestFailingWithoutAReason: an acquire may fail without a reason if a slot had a holder, a claim was refused, or no
// slot existed. In other cases it must succeed. Other operations may not fail without a reason.
func TestFailingWithoutAReason(t *testing.T) {
	failed := lock.Result{Outcome: lock.Failed}
	held := Truth{Exists: 1 << 1, Taken: 1 << 1, Owner: [Slots + 1]uint8{1: 2}}
	for _, c := range []struct {
		name    string
		op      lock.Op
		truth   Truth
		happens func(*Monitor)
		right   bool
	}{
		{"a slot is free", lock.Acquire, slotOne.free, nil, false},
		{"there is no slot", lock.Acquire, Truth{}, nil, true},
		{"a queue is there of no slot", lock.Acquire, Truth{Taken: 1 << 2}, nil, true},
		{"the slot is held", lock.Acquire, held, nil, true},
		{"a queue is there of another slot", lock.Acquire, Truth{Exists: 1 << 1, Taken: 1 << 2}, nil, false},
		{"one of two is held", lock.Acquire, Truth{Exists: 3 << 1, Taken: 1 << 2, Owner: [Slots + 1]uint8{2: 2}}, nil, true},
		{"the slot was held", lock.Acquire, held, func(m *Monitor) { m.SetTruth(0, 2, &slotOne.free) }, true},
		{"the slot came to be held", lock.Acquire, slotOne.free, func(m *Monitor) { m.SetTruth(0, 2, &held) }, true},
		{"it was refused", lock.Acquire, slotOne.free, func(m *Monitor) {
			touch(m, 1, backend.Holder, 1, amqp.Command{Method: amqp.QueueDeclare}, amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.ResourceLocked})
		}, true},
		{"a count, and the slot is held", lock.Count, held, nil, false},
		{"a wait, and the slot is held", lock.Wait, held, nil, false},
	} {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{c.truth})
		m.Begin(2, 0, lock.Acquire, 0, true)
		m.Begin(1, 0, c.op, 1, true)
		if c.happens != nil {
			c.happens(&m)
		}
		m.End(1, failed, 0, true)
		if m.Found.Has(property.Progress) == c.right {
			t.Errorf("%s: found %b", c.name, m.Found)
		}
	}
}

// TestWitnessOfRemoved: a verify that says "removed" has a linearization only if the slot was missing at some moment of
// the call.
func TestWitnessOfRemoved(t *testing.T) {
	for _, removed := range []bool{true, false} {
		m := holding()
		m.Begin(1, 0, lock.Verify, 0, true)
		if removed {
			m.Begin(2, 0, lock.Remove, 1, true)
			m.SetTruth(0, 2, &Truth{Taken: 1 << 1, Owner: slotOne.held.Owner})
			m.End(2, lock.Result{Outcome: lock.Done}, 0, true)
			m.SetTruth(0, 1, &Truth{})
		}
		m.End(1, lock.Result{Outcome: lock.Done, Slot: 1, Reason: lock.Removed}, 0, true)
		if m.Witnessed != removed {
			t.Errorf("removed %v, witnessed %v", removed, m.Witnessed)
		}
	}
}

// TestReleaseOnASharedConnection: all clients share a connection. A release violates effective-release if the slot is
// still taken after it. It does not if the slot was free at some moment of the call, even if another client has claimed
// it since.
func TestReleaseOnASharedConnection(t *testing.T) {
	for _, c := range []struct {
		name      string
		happens   func(*Monitor)
		effective bool
	}{
		{"nothing", func(*Monitor) {}, false},
		{"deleted", func(m *Monitor) { m.SetTruth(0, 1, &slotOne.free) }, true},
		{"deleted, and claimed by another", func(m *Monitor) {
			m.SetTruth(0, 1, &slotOne.free)
			m.Begin(2, 0, lock.Acquire, 0, true)
			m.SetTruth(0, 2, &slotOne.held)
		}, true},
	} {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{SharedSession: true}, 2, []Truth{slotOne.free})
		m.Begin(1, 0, lock.Acquire, 0, true)
		m.SetTruth(0, 1, &slotOne.held)
		m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
		m.Begin(1, 0, lock.Release, 0, true)
		c.happens(&m)
		m.End(1, lock.Result{Outcome: lock.Done, Slot: 1}, 0, true)
		if m.Found.Has(property.EffectiveRelease) == c.effective {
			t.Errorf("%s: found %b", c.name, m.Found)
		}
	}
}

// TestOrphanHasPendingOwner: a B queue without an owner is a leak, unless it may belong to a live client. This is a
// client that believes it holds the slot, or whose current acquire has declared the queue.
func TestOrphanHasPendingOwner(t *testing.T) {
	declared := amqp.Reply{Kind: amqp.OK}
	declare := amqp.Command{Method: amqp.QueueDeclare}
	for _, c := range []struct {
		name   string
		other  func(*Monitor)
		wanted bool
	}{
		{"nobody is there", func(*Monitor) {}, false},
		{"another acquires and has declared nothing", func(m *Monitor) { m.Begin(2, 0, lock.Acquire, 0, true) }, false},
		{"another has declared it", func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
			touch(m, 2, backend.Holder, 1, declare, declared)
		}, true},
		{"another has declared the next one", func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
			touch(m, 2, backend.Holder, 2, declare, declared)
		}, false},
		{"an administrator has declared it", func(m *Monitor) {
			m.Begin(2, 0, lock.Add, 1, true)
			touch(m, 2, backend.Holder, 1, declare, declared)
		}, false},
		{"another has declared it, and died", func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
			touch(m, 2, backend.Holder, 1, declare, declared)
			m.Crash(2)
		}, false},
		{"another has declared that of the other lock", func(m *Monitor) {
			m.Begin(2, 1, lock.Acquire, 0, true)
			touch(m, 2, backend.Holder, 1, declare, declared)
		}, false},
		{"another believes to hold it", func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
			m.End(2, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
		}, true},
		{"another believes to hold the next one", func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
			m.End(2, lock.Result{Outcome: lock.Done, Held: true, Slot: 2}, 2, true)
		}, false},
	} {
		for _, dies := range []bool{false, true} {
			var m Monitor
			m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{slotOne.free, slotOne.free})
			m.Begin(1, 0, lock.Acquire, 0, true)
			m.SetTruth(0, 1, &slotOne.orphaned)
			m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
			p := property.EffectiveRelease
			if dies {
				p = property.CrashFrees
				m.Crash(1)
				m.Gone(1, true, false)
				c.other(&m)
				m.Freed(1)
			} else {
				m.Begin(1, 0, lock.Release, 0, true)
				c.other(&m)
				m.End(1, lock.Result{Outcome: lock.Done, Slot: 1}, 0, true)
			}
			if m.Found.Has(p) == c.wanted {
				t.Errorf("%s, dies %v: found %b", c.name, dies, m.Found)
			}
		}
	}
}

// TestWhatIsSeenOfAClient: dead clients that no longer matter have the same code, except for their lock. If a client
// holds nothing, it makes no difference to others whether it has a connection.
func TestWhatIsSeenOfAClient(t *testing.T) {
	code := func(write func(*codec.Coder)) []byte {
		w := codec.Write(nil)
		write(&w)
		return bytes.Clone(w.Bytes())
	}
	two := []Truth{slotOne.free, slotOne.free}
	var m Monitor
	m.Reset(lock.Semaphore, lock.Facts{}, 4, two)
	for c, l := range []uint8{0, 0, 1, 0} {
		m.Begin(uint8(c+1), l, lock.Count, 0, true)
		m.Crash(uint8(c + 1))
	}
	dead := func(c uint8) []byte { return code(func(w *codec.Coder) { m.CodeDead(w, c) }) }
	if !bytes.Equal(dead(1), dead(2)) || bytes.Equal(dead(2), dead(3)) || !bytes.Equal(dead(4), dead(1)) {
		t.Error("the dead of one lock are alike, and no others")
	}
	view := func(believes, lost bool) []byte {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{}, 2, two)
		m.Begin(1, 0, lock.Acquire, 0, true)
		if believes {
			m.SetTruth(0, 1, &slotOne.held)
			m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
		} else {
			m.End(1, lock.Result{Outcome: lock.Failed, Reason: lock.Full}, 0, true)
		}
		if lost {
			m.Gone(1, true, false)
		}
		return code(func(w *codec.Coder) { m.CodeView(w, 1, property.Applicable(lock.Semaphore)) })
	}
	if !bytes.Equal(view(false, false), view(false, true)) {
		t.Error("it is seen of who believes in nothing that the connection is lost")
	}
	if bytes.Equal(view(true, false), view(true, true)) {
		t.Error("it is not seen of a holder that the connection is lost")
	}
	dies := func(adminOf uint8) (before, after []byte) {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{{Admin: adminOf}})
		view := func() []byte {
			return code(func(w *codec.Coder) { m.CodeView(w, 1, property.Applicable(lock.Semaphore)) })
		}
		before = view()
		m.Crash(1)
		return before, view()
	}
	if before, after := dies(2); !bytes.Equal(before, after) {
		t.Error("it is seen of who neither holds nor administers that it died")
	}
	if before, after := dies(1); bytes.Equal(before, after) {
		t.Error("it is not seen of who has the administration mutex that it died")
	}
}

// TestCostsAdded: merging several Costs gives the same as adding all operations to one.
func TestCostsAdded(t *testing.T) {
	var all Costs
	var parts [3]Costs
	for i, cost := range [][Measures]int{{6, 2, 6, 0, 0}, {4, 3, 4, 1, 0}, {9, 1, 2, 0, 1}, {5, 5, 5, 0, 0}} {
		r := lock.Result{Held: true, Slot: 1}
		all.Add(lock.Acquire, r, 0, cost)
		parts[i%2].Add(lock.Acquire, r, 0, cost)
	}
	var sum Costs
	for i := range parts { // the last one is empty
		sum.Merge(&parts[i])
	}
	want := Tally{Count: 4, Sum: [Measures]int{24, 11, 17, 1, 1}, Min: [Measures]int{4, 1, 2, 0, 0}, Max: [Measures]int{9, 5, 6, 1, 1}}
	if sum != all || sum[AcquireFirst] != want {
		t.Errorf("%+v, expected %+v", sum[AcquireFirst], all[AcquireFirst])
	}
}

// TestSlotsOfNobody: a slot that appears without an administrative operation violates contiguous-slots.
func TestSlotsOfNobody(t *testing.T) {
	var m Monitor
	m.Reset(lock.Semaphore, lock.Facts{}, 1, []Truth{{}})
	m.Begin(1, 0, lock.Acquire, 0, true)
	m.SetTruth(0, 1, &slotOne.free)
	if !m.Found.Has(property.ContiguousSlots) {
		t.Error("a slot came to be of which nobody was asked")
	}
}

// TestCostOfLostRaces: an acquire that loses no race has a budget. For each channel that a lost race breaks, it may
// spend this budget once more.
func TestCostOfLostRaces(t *testing.T) {
	probe := amqp.Command{Method: amqp.BasicPublish}
	declare := amqp.Command{Method: amqp.QueueDeclare, Pipelined: true}
	locked := amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.ResourceLocked}
	for lost := 1; lost <= 2; lost++ {
		for slots := 1; slots <= 2; slots++ {
			for over := range 2 {
				var m Monitor
				m.Reset(lock.Semaphore, lock.Facts{Retries: 3}, 2, []Truth{{Exists: 1<<(slots+1) - 2}})
				m.Begin(1, 0, lock.Acquire, 0, true)
				for range lost {
					exchanged(&m, 1, declare, locked, false)
					touch(&m, 1, backend.Holder, 1, declare, locked)
				}
				budget := (lost + 1) * (2*slots + 4)
				for range budget + over {
					exchanged(&m, 1, probe, amqp.Reply{}, false)
				}
				m.End(1, lock.Result{Outcome: lock.Failed, Reason: lock.Full}, 0, true)
				if m.Found.Has(property.CheapAcquire) != (over > 0) {
					t.Errorf("%d lost races, %d slots, %d over the budget of %d: found %b", lost, slots, over, budget, m.Found)
				}
			}
		}
	}
}

// TestClaimAsAQuestion: to claim a slot whose holder's queue existed all along breaks a channel without need. For a
// mutex of unknown design this is no violation, since a claim may be its only way to ask.
func TestClaimAsAQuestion(t *testing.T) {
	declare := amqp.Command{Method: amqp.QueueDeclare}
	locked := amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.ResourceLocked}
	for _, c := range []struct {
		kind    lock.Kind
		unbound bool
		cheap   bool
	}{{lock.Mutex, true, true}, {lock.Mutex, false, false}, {lock.Semaphore, true, false}, {lock.Semaphore, false, false}} {
		var m Monitor
		m.Reset(c.kind, lock.Facts{Retries: 3}, 2, []Truth{{Exists: 1 << 1, Taken: 1 << 1, Owner: [Slots + 1]uint8{1: 2}}})
		if c.unbound {
			m.Unbound()
		}
		m.Begin(1, 0, lock.Acquire, 0, true)
		exchanged(&m, 1, declare, locked, false)
		touch(&m, 1, backend.Holder, 1, declare, locked)
		m.End(1, lock.Result{Outcome: lock.Failed, Reason: lock.Full}, 0, true)
		if m.Found.Has(property.CheapAcquire) == c.cheap {
			t.Errorf("%s, bounds unknown %v: found %b", c.kind, c.unbound, m.Found)
		}
	}
}

// TestNothingIsAdministered: if the maximum numbers of attempts are unknown, administration may be busy while any
// operation is under way, and may do nothing if there is nothing to change.
func TestNothingIsAdministered(t *testing.T) {
	for _, c := range []struct {
		name    string
		exists  uint16
		op      lock.Op
		counts  bool
		unbound bool
		busy    bool
		arg     uint8
		held    bool
	}{
		{"nothing to destroy", 0, lock.Destroy, false, true, false, 1, false},
		{"nothing to destroy, bounds known", 0, lock.Destroy, false, false, true, 1, false},
		{"nothing there to be in the way of create", 0, lock.Create, false, true, true, 1, false},
		{"something to destroy", 1 << 1, lock.Destroy, false, true, true, 1, false},
		{"somebody counts", 1 << 1, lock.Add, true, true, false, 1, false},
		{"somebody counts, bounds known", 1 << 1, lock.Add, true, false, true, 1, false},
		{"fewer than are to be removed", 1 << 1, lock.Remove, false, true, false, 2, false},
		{"fewer than are to be removed, bounds known", 1 << 1, lock.Remove, false, false, true, 2, false},
		{"as many as are to be removed", 1 << 1, lock.Remove, false, true, true, 1, false},
		{"nothing to add to", 0, lock.Add, false, true, false, 1, false},
		{"held by somebody", 1 << 1, lock.Remove, false, true, false, 1, true},
		{"held by somebody, bounds known", 1 << 1, lock.Remove, false, false, true, 1, true},
		{"to be created, and held by somebody", 1 << 1, lock.Create, false, true, false, 1, true},
		{"to be created, and held by somebody, bounds known", 1 << 1, lock.Create, false, false, true, 1, true},
		{"held by somebody, who is not in the way of add", 1 << 1, lock.Add, false, true, true, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m Monitor
			truth := Truth{Exists: c.exists}
			if c.held {
				truth.Taken, truth.Owner[1] = 1<<1, 2
			}
			m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{truth})
			if c.unbound {
				m.Unbound()
			}
			if c.counts {
				m.Begin(2, 0, lock.Count, 0, true)
				truth.Admin = 2
				m.SetTruth(0, 2, &truth)
			}
			m.Begin(1, 0, c.op, c.arg, true)
			m.End(1, lock.Result{Outcome: lock.Failed, Reason: lock.Busy}, 0, true)
			if m.Found.Has(property.Progress) != c.busy {
				t.Errorf("found %b", m.Found)
			}
		})
	}
}
