package monitor

import (
	"math/bits"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Seen is what a client can observe of a lock in one or several states, apart from what it owns itself. Sets of slots
// have bit s for slot s.
type Seen struct {
	Existed uint16 // the slot existed in one of the states
	Absent  uint16 // the slot did not exist
	Busy    uint16 // the slot was taken or did not exist
	Empty   uint16 // the slot had no holder
	Counted uint16 // bit n: there were n slots
	Full    bool   // every slot was taken
	Waited  bool   // the administration mutex had a rightful holder
	Begun   bool   // another client began an administrative operation
	Changed bool   // a command of another administrator read or changed slots
}

// see returns what can be observed of lock l in its current state.
func (m *Monitor) see(l uint8) Seen {
	t := &m.locks[l].truth
	return Seen{
		Existed: t.Exists, Absent: AllSlots &^ t.Exists,
		Busy: AllSlots &^ t.Free(), Empty: AllSlots &^ t.Taken,
		Counted: 1 << bits.OnesCount16(t.Exists),
		Full:    t.Free() == 0, Waited: m.administered(l, t),
	}
}

// add adds the states of o to those of s.
func (s *Seen) add(o Seen) {
	s.Existed |= o.Existed
	s.Absent |= o.Absent
	s.Busy |= o.Busy
	s.Empty |= o.Empty
	s.Counted |= o.Counted
	s.Full = s.Full || o.Full
	s.Waited = s.Waited || o.Waited
	s.Begun = s.Begun || o.Begun
	s.Changed = s.Changed || o.Changed
}

// Mark begins an action for [Monitor.Passed].
func (m *Monitor) Mark() {
	for l := range m.locks {
		m.locks[l].passed = Seen{}
	}
}

// Passed returns, for each lock, what the monitor has added since [Monitor.Mark] to what it keeps of clients under way.
// It is the union of the lock's states after each change, and nothing if the lock's state has not changed.
func (m *Monitor) Passed() (all [lock.MaxLocks]Seen) {
	for l := range m.locks {
		all[l] = m.locks[l].passed
	}
	return all
}

// Kept returns the part of s that the monitor keeps for a client with an operation under way, to judge the properties
// in keep.
func (s Seen) Kept(keep property.Set) (kept Seen) {
	wanted := retainedFor(keep)
	if wanted&(ofExistence|ofGrants|ofOwn|ofRenewal) != 0 {
		kept.Existed, kept.Absent = s.Existed, s.Absent
	}
	if wanted&ofHolders != 0 {
		kept.Busy, kept.Empty, kept.Full = s.Busy, s.Empty, s.Full
	}
	if wanted&ofCounts != 0 {
		kept.Counted = s.Counted
	}
	kept.Waited = s.Waited && wanted&ofWaiting != 0
	kept.Begun = s.Begun && wanted&(ofWaiting|ofAdmins) != 0
	kept.Changed = s.Changed && wanted&ofAdmins != 0
	return kept
}
