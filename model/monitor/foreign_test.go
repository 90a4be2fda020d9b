package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestForeign: slots that two of other people's clients add at the same time are counted.
func TestForeign(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		for _, made := range []uint8{4, 5} { // of the one there is, and one and two that are added
			m := new(Monitor)
			m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{{Exists: 1 << 1}})
			if foreign {
				m.Foreign()
			}
			m.Begin(1, 0, lock.Add, 1, true)
			m.Begin(2, 0, lock.Add, 2, true)
			m.SetTruth(0, 2, &Truth{Exists: (1<<made - 1) << 1})
			m.End(1, lock.Result{Outcome: lock.Done}, 0, true)
			m.End(2, lock.Result{Outcome: lock.Done}, 0, true)
			if found := m.Found.Has(property.ContiguousSlots); found != (foreign && made != 4) {
				t.Errorf("foreign %v: there are %d slots, and that is found wrong: %v", foreign, made, found)
			}
		}
	}
}
