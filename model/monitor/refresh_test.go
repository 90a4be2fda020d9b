package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestRefreshAsItsLeaseEnds: a lease is over at its very end. A refresh that is invoked then or later, and says held,
// violates renewal-honest. A refresh that was invoked before does not, whenever it takes effect.
func TestRefreshAsItsLeaseEnds(t *testing.T) {
	const end = 10
	lease := func(until int32) Truth {
		return Truth{Exists: 1 << 1, Taken: 1 << 1, Owner: [Slots + 1]uint8{1: 1}, Until: [Slots + 1]int32{1: until}}
	}
	for _, c := range []struct {
		called, extended int64
		honest           bool
	}{
		{end - 1, end - 1, true}, {end - 1, end, true}, {end - 1, end + 1, true}, {end, end, false}, {end, end + 1, false}, {end + 1, end + 1, false},
	} {
		var m Monitor
		m.Reset(lock.Semaphore, lock.Facts{}, 1, []Truth{{Exists: 1 << 1}})
		m.Has(lock.Leases)
		granted := lease(end)
		m.Begin(1, 0, lock.Acquire, 0, true)
		m.SetTruth(0, 1, &granted)
		m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
		pass := func(to int64) {
			for m.now < to {
				m.At(m.now + 1)
				if now := granted; now.Until[1] != 0 {
					if now.Lapse(m.now); now != granted {
						m.SetTruth(0, 0, &now)
						granted = now
					}
				}
			}
		}
		pass(c.called)
		m.Begin(1, 0, lock.Refresh, 1, true)
		pass(c.extended)
		extended := lease(end + 100)
		m.Touch(1, &backend.Exchange{Access: backend.Create, Role: backend.Holder, Slot: 1})
		m.SetTruth(0, 1, &extended)
		m.End(1, lock.Result{Outcome: lock.Done, Held: true, Slot: 1}, 1, true)
		if m.Found.Has(property.RenewalHonest) == c.honest {
			t.Errorf("called at %d and carried out at %d, of a lease that ends at %d: honest is not %v", c.called, c.extended, end, c.honest)
		}
	}
}
