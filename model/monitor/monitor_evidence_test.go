package monitor

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// busy is the result of an administrative operation that met another administrator.
var busy = lock.Result{Outcome: lock.Failed, Reason: lock.Busy}

// TestBusyWantsAnAdministrator: an administrative operation may fail as busy only if the administration mutex has a
// rightful holder. This is a client that administers the same lock, or that crashed.
func TestBusyWantsAnAdministrator(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(*Monitor, *Truth)
		right   bool
	}{
		{"nobody has the mutex", func(*Monitor, *Truth) {}, false},
		{"an idle client has kept it", func(_ *Monitor, tr *Truth) { tr.Admin = 1 }, false},
		{"a client that acquires has it", func(m *Monitor, tr *Truth) { m.Begin(1, 0, lock.Acquire, 0, true); tr.Admin = 1 }, false},
		{"an administrator has it", func(m *Monitor, tr *Truth) { m.Begin(1, 0, lock.Add, 1, true); tr.Admin = 1 }, true},
		{"a dead client has it", func(m *Monitor, tr *Truth) { m.Crash(1); tr.Admin = 1 }, true},
		{"a connection that is half open has it", func(_ *Monitor, tr *Truth) { tr.Admin = 1 | HalfOpen }, true},
		{"an administrator of another lock has it", func(m *Monitor, tr *Truth) { m.Begin(1, 1, lock.Add, 1, true); tr.Admin = 1 }, false},
		{"another is administering, and somebody idle has it", func(m *Monitor, tr *Truth) { m.Begin(3, 1, lock.Add, 1, true); tr.Admin = 1 }, false},
	} {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{}, 3, []Truth{slotOne.free, slotOne.free})
		truth := slotOne.free
		c.happens(&m, &truth)
		m.SetTruth(0, 1, &truth)
		m.Begin(2, 0, lock.Add, 1, true)
		touch(&m, 2, backend.Mutex, 0, amqp.Command{Method: amqp.QueueDeclare}, amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.ResourceLocked})
		touch(&m, 2, backend.AdminMutex, 0, amqp.Command{Method: amqp.BasicPublish}, amqp.Reply{Kind: amqp.Ack})
		m.End(2, busy, 0, true)
		if m.Found.Has(property.Progress) == c.right {
			t.Errorf("%s: found %b", c.name, m.Found)
		}
	}
}

// TestReleaseOfWhatIsGone: a release of a slot that was lost with its connection changes nothing, and has a
// linearization. If the client has opened another connection since, it has none.
func TestReleaseOfWhatIsGone(t *testing.T) {
	for _, reopened := range []bool{false, true} {
		m := holding()
		m.Gone(1, true, false)
		m.SetTruth(0, 0, &slotOne.free)
		if reopened {
			m.Begin(1, 0, lock.Count, 0, false)
			exchanged(m, 1, amqp.Command{Method: amqp.ConnectionOpen}, amqp.Reply{Kind: amqp.OK}, false)
			m.End(1, lock.Result{Outcome: lock.Done, Slots: 1}, 1, true)
		}
		m.Begin(1, 0, lock.Release, 0, true)
		m.End(1, lock.Result{Outcome: lock.Done, Slot: 1}, 0, true)
		if m.Witnessed == reopened {
			t.Errorf("connected again %v, witnessed %v", reopened, m.Witnessed)
		}
	}
}

// TestEvidence: each violation has the clients and the slot that it concerns.
func TestEvidence(t *testing.T) {
	both := Truth{Exists: 1<<1 | 1<<2, Taken: 1 << 2, Owner: [Slots + 1]uint8{2: 2}}
	for _, c := range []struct {
		name    string
		happens func(*Monitor)
		want    property.Violation
	}{
		{"administering after another", func(m *Monitor) {
			for _, c := range []uint8{1, 2, 1} {
				if m.clients[c-1].op == lock.NoOp {
					m.Begin(c, 0, lock.Add, 1, true)
				}
				touch(m, c, backend.Slot, 2, amqp.Command{Method: amqp.QueueDeclare}, amqp.Reply{Kind: amqp.OK})
			}
		}, property.Violation{Property: property.AdminExclusion, Client: 1}},
		{"an unusual method", func(m *Monitor) {
			m.Begin(1, 0, lock.Acquire, 0, true)
			exchanged(m, 1, amqp.Command{Method: amqp.QueuePurge}, amqp.Reply{Kind: amqp.OK}, true)
		}, property.Violation{Property: property.MinimalDriver, Client: 1}},
		{"a holder robbed", func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
			m.SetTruth(0, 2, &Truth{Exists: 1 << 1})
		}, property.Violation{Property: property.RemovalDrains, Client: 1, Other: 2, Slot: 1, Detail: "the holder lost it without releasing it"}},
		{"two grants", func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
			m.SetTruth(0, 2, &Truth{Exists: 1 << 1, Taken: 1 << 1, Owner: [Slots + 1]uint8{1: 2}})
		}, property.Violation{Property: property.MutualExclusion, Client: 1, Other: 2, Slot: 1}},
		{"more slots than administered", func(m *Monitor) { m.SetTruth(0, 2, &both) },
			property.Violation{Property: property.ContiguousSlots, Client: 2, Detail: "there are more or fewer slots than administered"}},
		{"a hole", func(m *Monitor) {
			m.SetTruth(0, 2, &Truth{Exists: 1<<1 | 1<<3, Taken: 1 << 1, Owner: [Slots + 1]uint8{1: 1}})
		},
			property.Violation{Property: property.ContiguousSlots, Client: 2, Slot: 2, Detail: "there is a hole"}},
		{"left over", func(m *Monitor) { m.Leftover("a queue") }, property.Violation{Property: property.NoLeak, Detail: "a queue"}},
		{"never done", func(m *Monitor) { m.Unfinished(2, "") }, property.Violation{Property: property.Progress, Client: 2, Detail: "the operation does not end"}},
		{"never answered", func(m *Monitor) { m.Unfinished(2, "nobody answers") }, property.Violation{Property: property.Progress, Client: 2, Detail: "the operation does not end: nobody answers"}},
		{"another's queue", func(m *Monitor) { m.Named(2, false) }, property.Violation{Property: property.NameSafety, Client: 2}},
		{"still there after a crash", func(m *Monitor) {
			m.Crash(1)
			m.Gone(1, true, false)
			m.Freed(1)
		}, property.Violation{Property: property.CrashFrees, Client: 1, Slot: 1}},
		{"gone after a restart", func(m *Monitor) { m.Restarted(0, &Truth{}) }, property.Violation{Property: property.SurvivesRestart}},
		{"kept after release", func(m *Monitor) {
			m.Begin(1, 0, lock.Release, 0, true)
			m.End(1, lock.Result{Outcome: lock.Done, Slot: 1}, 0, true)
		}, property.Violation{Property: property.EffectiveRelease, Client: 1, Slot: 1}},
		{"counted wrongly", func(m *Monitor) {
			m.Begin(2, 0, lock.Count, 0, true)
			m.End(2, lock.Result{Outcome: lock.Done, Slots: 3}, 0, true)
		}, property.Violation{Property: property.ExactCount, Client: 2, Slot: 3}},
	} {
		m := holding()
		c.happens(m)
		if got := m.TakeNew(); !slices.Contains(got, c.want) {
			t.Errorf("%s: found %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestLooksBeforeMutex: an external administrator may read slots before it has the administration mutex, but not change
// them.
func TestLooksBeforeMutex(t *testing.T) {
	look := amqp.Command{Method: amqp.BasicPublish}
	change := amqp.Command{Method: amqp.QueueDeclare}
	ok := amqp.Reply{Kind: amqp.OK}
	for _, c := range []struct {
		name  string
		other amqp.Command
		wrong bool
	}{{"looks", look, false}, {"changes", change, true}} {
		m := holding()
		m.Foreign()
		m.Begin(2, 0, lock.Add, 1, true)
		touch(m, 2, backend.AdminMutex, 0, change, ok)
		touch(m, 2, backend.Slot, 1, look, amqp.Reply{Kind: amqp.Ack})
		m.Begin(1, 0, lock.Add, 1, true)
		touch(m, 1, backend.Slot, 2, c.other, ok)
		touch(m, 2, backend.Slot, 2, change, ok)
		if m.Found.Has(property.AdminExclusion) != c.wrong {
			t.Errorf("another %s: found %b", c.name, m.Found)
		}
		touch(m, 1, backend.AdminMutex, 0, change, ok)
		touch(m, 1, backend.Slot, 2, look, amqp.Reply{Kind: amqp.Ack})
		if m.Found.Has(property.AdminExclusion) != c.wrong {
			t.Errorf("another %s, and has the mutex then: found %b", c.name, m.Found)
		}
	}
}
