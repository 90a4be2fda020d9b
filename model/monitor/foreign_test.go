package monitor

import (
	"testing"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// TestForeign: if two external clients add slots at the same time, the lock must then have the slots of both.
func TestForeign(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		for _, made := range []uint8{4, 5} { // one slot existed, and 1 + 2 are added: 4 is right
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

// TestCountedAside: while an administrator works, an external client may count any number of slots between the old
// number and the new one. After the administrator's crash only the actual number is right.
func TestCountedAside(t *testing.T) {
	const there, asked = 3, 2
	for _, c := range []struct {
		op          lock.Op
		least, most uint8
	}{{lock.Add, 3, 5}, {lock.Create, 3, 3}, {lock.Remove, 1, 3}, {lock.Destroy, 0, 3}} {
		for counted := range uint8(7) {
			for _, dies := range []bool{false, true} {
				m := new(Monitor)
				m.Reset(lock.Semaphore, lock.Facts{}, 2, []Truth{{Exists: (1<<there - 1) << 1}})
				m.Foreign()
				m.Begin(2, 0, c.op, asked, true)
				if dies {
					m.Crash(2)
				}
				m.Begin(1, 0, lock.Count, 0, true)
				m.End(1, lock.Result{Outcome: lock.Done, Slots: counted}, 0, true)
				right := counted == there || !dies && counted >= c.least && counted <= c.most
				if found := m.Found.Has(property.ExactCount); found == right {
					t.Errorf("%d slots while %v of %d of %d is under way, dies %v: found wrong %v", counted, c.op, asked, there, dies, found)
				}
			}
		}
	}
}
