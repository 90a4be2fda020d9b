package monitor

import "math/bits"

// Slots is the largest slot number in a Truth, and therefore in simulated locks.
const Slots = 11

// HalfOpen marks an owner whose connection is dead or given up by its client, while the broker has not noticed.
const HalfOpen uint8 = 0x80

// Truth is the broker's state of one lock at one moment. Bit s of a set stands for slot s. A true mutex has one slot,
// which always exists.
type Truth struct {
	Exists uint16 // slots whose A queue exists
	Taken  uint16 // slots whose B queue exists
	// Pending are slots that have no holder and cannot be granted: slots that the acquiring client creates
	// first, and slots that an open transaction is taking.
	Pending uint16
	// Owner is the client whose connection owns the slot's B queue exclusively; 0 is no client. The bit HalfOpen is
	// set if the client no longer uses that connection.
	Owner [Slots + 1]uint8
	// Admin is the client that holds the administration mutex, in the same form.
	Admin uint8
	// Limit is the number of clients that may hold the lock at once, as the servers store it; 0 is the number of
	// slots.
	Limit uint8
	// Barrier is a priority up to which clients are not granted the lock, even if the owner of the barrier does not
	// hold it. 0 is no barrier.
	Barrier uint8
	// Priority is the priority with which the owner acquired the slot.
	Priority [Slots + 1]uint8
	// Until is the end of the owner's lease by the servers' clock, in virtual milliseconds since the execution began;
	// 0 is never. At this moment the lease is already over.
	Until [Slots + 1]int32
	// Token is the owner's fencing token; 0 is none.
	Token [Slots + 1]uint32
}

// Lapse removes the holders whose leases have ended by now, in virtual milliseconds.
func (t *Truth) Lapse(now int64) {
	for s := uint8(1); s <= Slots; s++ {
		if t.Until[s] != 0 && int64(t.Until[s]) <= now {
			t.Vacate(s)
		}
	}
}

// ending are the slots whose holder's lease has an end.
func (t *Truth) ending() (set uint16) {
	for s := uint8(1); s <= Slots; s++ {
		if t.Until[s] != 0 {
			set |= 1 << s
		}
	}
	return set
}

// Vacate removes a slot's holder.
func (t *Truth) Vacate(s uint8) {
	t.Taken &^= 1 << s
	t.Owner[s], t.Priority[s], t.Until[s], t.Token[s] = 0, 0, 0, 0
}

// Lowest is the lowest slot without a holder, used for a permit without a number; 0 if there is none.
func (t *Truth) Lowest() uint8 { return firstSlot(AllSlots &^ t.Taken) }

// Nearest is the time at which the next lease ends, in virtual milliseconds since the execution began; 0 if none
// ends.
func (t *Truth) Nearest() (at int64) {
	for s := uint8(1); s <= Slots; s++ {
		if u := int64(t.Until[s]); u > 0 && (at == 0 || u < at) {
			at = u
		}
	}
	return at
}

// Free are the slots that exist, can be granted, and have no holder.
func (t *Truth) Free() uint16 { return t.Exists &^ t.Taken &^ t.Pending }

// Count is C, the number of slots before the first missing one.
func (t *Truth) Count() int { return bits.TrailingZeros16(^(t.Exists >> 1)) }

// Contiguous reports whether the slots are exactly 1 to C, without a hole.
func (t *Truth) Contiguous() bool { return t.Exists>>1 == 1<<t.Count()-1 }

// AllSlots is the set of all slots that a Truth can have.
const AllSlots uint16 = 1<<(Slots+1) - 2
