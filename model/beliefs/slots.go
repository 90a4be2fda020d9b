package beliefs

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Slots is how many slots a lock may have, by the administration that was called. An operation may take effect from its call on,
// and one that failed or was not answered at any later moment (etcd's robustness tests: what failed has an open end). The zero
// value is a lock without slots.
type Slots struct {
	Least, Most int
	Highest     int    // the largest number of a slot, in whatever order the operations took effect
	under       int    // operations under way, those that were not answered among them
	mixed       bool   // others were, since the last moment without any
	before      [2]int // Least and Most when the operation began, if it is alone
}

// NewSlots is a lock that has so many.
func NewSlots(n int) Slots { return Slots{Least: n, Most: n, Highest: n} }

// Begin is a call of an operation, of so many slots.
func (s *Slots) Begin(op lock.Op, n int) {
	if !op.Administrative() {
		return
	}
	s.mixed = s.under > 0
	s.before = [2]int{s.Least, s.Most}
	s.under++
	switch op {
	case lock.Create:
		s.Least, s.Most, s.Highest = min(s.Least, n), max(s.Most, n), max(s.Highest, n)
	case lock.Add:
		s.Most += n
		s.Highest += n
	case lock.Remove:
		s.Least = max(0, s.Least-n)
	case lock.Destroy:
		s.Least = 0
	}
}

// End is its answer. What it did is known if it succeeded, and nothing else was or may be under way.
func (s *Slots) End(op lock.Op, n int, how history.EventType) {
	if !op.Administrative() || how != history.OK { // it may yet happen
		return
	}
	s.under--
	if s.mixed {
		s.mixed = s.under > 0
		return
	}
	if s.under > 0 {
		return
	}
	least, most := s.before[0], s.before[1]
	switch op {
	case lock.Create:
		if most == 0 {
			s.Least, s.Most = n, n
		}
	case lock.Add:
		s.Least, s.Most = least+n, most+n
	case lock.Remove:
		s.Least, s.Most = max(0, least-n), max(0, most-n)
	case lock.Destroy:
		s.Least, s.Most = 0, 0
	}
}

// administer takes in an event of administration, and what it means for those who acquire or hold the lock.
func (w *Judge) administer(e *history.Event, s *seen) {
	if w.slots == nil {
		return
	}
	slots := w.slotsOf(e.Lock)
	if e.Type == history.Invoke && e.F.Op() == lock.Acquire {
		s.most = slots.Most
	}
	if !e.F.Op().Administrative() {
		return
	}
	if e.Type == history.Invoke {
		slots.Begin(e.F.Op(), int(e.Slots))
	} else {
		slots.End(e.F.Op(), s.slots, e.Type)
	}
	for _, o := range w.processes {
		o.most = max(o.most, slots.Most)
	}
}

// slotsOf is how many slots a lock may have.
func (w *Judge) slotsOf(l uint16) *Slots {
	if w.slots[l] == nil {
		n := 0
		if int(l) < len(w.h.Slots) {
			n = w.h.Slots[l]
		}
		all := NewSlots(n)
		w.slots[l] = &all
	}
	return w.slots[l]
}

// within judges what was granted by how many slots there may be: none has a number that no slot can have, and no more clients hold
// one than there were slots at any moment since the first of them asked for it. A slot that is taken away stays its holder's.
func (w *Judge) within(i int, e *history.Event, s *seen) {
	if w.slots == nil || w.h.Kind != lock.Semaphore {
		return
	}
	slots := w.slotsOf(e.Lock)
	if e.Slot != history.AnySlot {
		w.judge(property.NoPhantomSlot, int(e.Slot) <= slots.Highest, i, "%s was granted %s (%s), and no order of what was administered makes more than %d",
			w.h.Who(e.Process), w.h.SlotName(e.Slot), w.h.Moment(i), slots.Highest)
	}
	holders, most := 1, max(s.most, slots.Most)
	for at, all := range w.believers {
		for _, b := range all {
			if at.lock == e.Lock && !b.asking && b.process != e.Process {
				holders, most = holders+1, max(most, w.process(b.process).most)
			}
		}
	}
	w.judge(property.LimitRespected, holders <= most, i, "%s was granted %s (%s), and %d hold the lock, which has %d slots at most",
		w.h.Who(e.Process), w.h.SlotName(e.Slot), w.h.Moment(i), holders, most)
}
