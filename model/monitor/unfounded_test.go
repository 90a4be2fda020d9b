package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestUnfoundedGrant: client 2 is told that it holds a slot that the servers did not give it at any moment of the call,
// because its claim had already ended. If client 1 has a live lease of the slot, this violates lease-respected, even if
// the claim has overwritten that lease.
func TestUnfoundedGrant(t *testing.T) {
	lease := func(owner uint8, until int32) Truth {
		return Truth{Exists: 1 << 1, Taken: 1 << 1, Owner: [Slots + 1]uint8{1: owner}, Until: [Slots + 1]int32{1: until}}
	}
	held, none := lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, Truth{Exists: 1 << 1}
	acquire := func(m *Monitor, c uint8, until int32) {
		m.Begin(c, 0, lock.Acquire, 0, true)
		granted := lease(c, until)
		m.SetTruth(0, c, &granted)
	}
	for _, c := range []struct {
		name   string
		traits lock.Traits
		happen func(m *Monitor) // the events before client 2 is told that it holds the slot
		broken bool
	}{
		{"an ended claim overwrites the living lease", lock.Leases, func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
			m.SetTruth(0, 2, &none)
		}, true},
		{"nothing was claimed", lock.Leases, func(m *Monitor) { m.Begin(2, 0, lock.Acquire, 0, true) }, true},
		{"the lease has ended", lock.Leases, func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
			m.At(10)
			m.SetTruth(0, 0, &none)
		}, false},
		{"the claim lived for a moment, and a later one has followed it", lock.Leases, func(m *Monitor) {
			m.At(10)
			m.SetTruth(0, 0, &none)
			m.Learned(1, 0)
			acquire(m, 2, 15)
			m.At(15)
			m.SetTruth(0, 0, &none)
			acquire(m, 1, 30)
		}, false},
		{"a permit that the servers never had has no slot of its own", lock.Leases | lock.Permits, func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 0, true)
		}, false},
		{"a victim has the slot until it has acknowledged", lock.Leases | lock.Priorities, func(m *Monitor) {
			m.Begin(2, 0, lock.Acquire, 2, true)
		}, false},
	} {
		for _, forgets := range []bool{false, true} { // forget as a search does
			var m Monitor
			m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{none})
			m.Has(c.traits)
			acquire(&m, 1, 10)
			m.End(1, held, 1, true)
			c.happen(&m)
			if m.Found.Has(property.LeaseRespected) {
				t.Fatalf("%s: violated already", c.name)
			}
			if forgets {
				m.Forget(1<<property.LeaseRespected, property.Weak)
				for client := uint8(1); client <= 2; client++ {
					kept := codec.Write(nil)
					m.CodeClient(&kept, client)
					kept = codec.Read(kept.Bytes())
					m.CodeClient(&kept, client)
				}
			}
			m.End(2, held, 1, true)
			if got := m.Found.Has(property.LeaseRespected); got != c.broken {
				t.Errorf("%s, forgets: %v: violated %v", c.name, forgets, got)
			}
		}
	}
}
