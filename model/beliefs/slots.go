package beliefs

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Slots is the range of the number of slots that a lock may have, given its administrative operations. An operation may
// take effect at any moment from its invocation to its answer. If it failed or has no answer, it may take effect at any
// later moment too (as in etcd's robustness tests). The zero value is a lock without slots.
type Slots struct {
	Least, Most int
	Highest     int  // the highest slot number that may ever have existed, in any order of the operations
	under       int  // operations under way, including those that failed or have no answer
	adding      int  // number of slots that the adds among these may still add
	destroyed   bool // a destroy was called
	since       overlap
}

// overlap is the present group of overlapping operations: all that began since the last time that none was under way.
type overlap struct {
	least, most int // range of the number of slots when the first operation of the group began
	begun       int
	net         int  // slots added by the group's adds that succeeded, less slots removed by its removes
	removed     int  // largest number of slots that the group's removes may remove
	resizes     bool // the group has only adds and removes, so that their order does not matter
}

// NewSlots is a lock with exactly n slots.
func NewSlots(n int) Slots { return Slots{Least: n, Most: n, Highest: n} }

// Begin handles the invocation of an administrative operation on n slots.
func (s *Slots) Begin(op lock.Op, n int) {
	if !op.Administrative() {
		return
	}
	if s.under == 0 {
		s.since = overlap{least: s.Least, most: s.Most, resizes: true}
	}
	s.under++
	s.since.begun++
	s.since.resizes = s.since.resizes && (op == lock.Add || op == lock.Remove)
	switch op {
	case lock.Create:
		s.Least, s.Most, s.Highest = min(s.Least, n), max(s.Most, n+s.adding), max(s.Highest, n+s.adding)
	case lock.Add:
		s.adding += n
		s.Most += n
		s.Highest += n
	case lock.Remove:
		s.since.removed += n
		s.Least = max(0, s.Least-n)
	case lock.Destroy:
		s.Least, s.destroyed = 0, true
	}
}

// End handles the answer to an administrative operation on n slots. If all operations of an overlapping group have
// succeeded, their effect is known in two cases. Either the group is a single operation, and if this is a create, the
// lock had no slots before. Or the group has only adds and removes, and there were always enough slots to remove.
func (s *Slots) End(op lock.Op, n int, how history.EventType) {
	if !op.Administrative() || how != history.OK { // the operation may still take effect
		return
	}
	s.under--
	switch op {
	case lock.Add:
		s.adding -= n
		s.since.net += n
	case lock.Remove:
		s.since.net -= n
	}
	o := &s.since
	switch {
	case s.under > 0:
	case o.begun == 1 && op == lock.Create && o.most == 0:
		s.Least, s.Most = n, n
	case o.begun == 1 && op == lock.Destroy:
		s.Least, s.Most = 0, 0
	case o.resizes && (o.begun == 1 || o.removed <= o.least):
		s.Least, s.Most = max(0, o.least+o.net), max(0, o.most+o.net)
	}
}

// SlotsIn is the range of the number of slots that a lock may have at the end of a history.
func SlotsIn(h *history.History, l uint16) (least, most int) {
	if h.Kind == lock.Mutex {
		return 1, 1
	}
	s, called := NewSlots(h.Slots[l]), make(map[int32]int)
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Lock != l || e.Process == history.Nemesis:
		case e.Type == history.Invoke:
			called[e.Process] = int(e.Slots)
			s.Begin(e.F.Op(), called[e.Process])
		default:
			s.End(e.F.Op(), called[e.Process], e.Type)
		}
	}
	if h.Kind == lock.PersistentMutex {
		return min(1, s.Least), min(1, s.Most)
	}
	return s.Least, s.Most
}

// administer updates a lock's range of slots after an administrative event, and the largest number of slots that each
// client's acquire may have met.
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
	for of, o := range w.sessions {
		if of.lock == e.Lock {
			o.most = max(o.most, slots.Most)
		}
	}
}

// slotsOf is the range of the number of slots that a lock may have now.
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

// within judges a grant by the range of slots. The slot number must be possible. The number of holders must not exceed
// the largest number of slots since the first of them invoked its acquire, since a holder keeps a slot that is removed.
func (w *Judge) within(i int, e *history.Event, s *seen) {
	switch {
	case w.slots == nil || w.h.Kind == lock.Mutex:
		return
	case w.h.Kind == lock.PersistentMutex:
		w.there(i, e, s)
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
				holders, most = holders+1, max(most, w.session(b.process, e.Lock).most)
			}
		}
	}
	w.judge(property.LimitRespected, holders <= most, i, "%s was granted %s (%s), and %d hold the lock, which has %d slots at most",
		w.h.Who(e.Process), w.h.SlotName(e.Slot), w.h.Moment(i), holders, most)
}

// there judges a grant of a persistent mutex: the mutex must have existed at some moment since the acquire was invoked.
func (w *Judge) there(i int, e *history.Event, s *seen) {
	there, destroyed := s.most > 0, w.slotsOf(e.Lock).destroyed
	w.judge(property.NoPhantomSlot, there || destroyed, i, "%s was granted the lock (%s), which nobody had created", w.h.Who(e.Process), w.h.Moment(i))
	w.judge(property.RemovalDrains, there || !destroyed, i, "%s was granted the lock (%s), which had been destroyed before it asked", w.h.Who(e.Process), w.h.Moment(i))
}
