package monitor

import "math/bits"

// Slots is the largest slot number that truth is kept of: simulated locks have at most that many.
const Slots = 11

// HalfOpen marks an owner whose connection is dead, or given up by its client, while the broker has not
// noticed.
const HalfOpen uint8 = 0x80

// Truth is what the broker has of one lock at one moment. Bit s of a set stands for slot s. A true
// mutex has one slot, which always exists.
type Truth struct {
	Exists uint16 // slots whose A queue exists
	Taken  uint16 // slots whose B queue exists
	// Pending are slots that nobody has and nobody can be granted: they do not exist yet, and the client that acquires one
	// makes it first; or somebody's transaction is taking one.
	Pending uint16
	// Owner is the number of the client whose connection has the slot's B queue exclusively, with
	// the bit HalfOpen where that connection is one it does not use any more; 0 is nobody.
	Owner [Slots + 1]uint8
	// Admin is likewise who has the administration mutex.
	Admin uint8
	// Limit is how many may hold the lock at once as the servers have it; 0 is as many as there are slots.
	Limit uint8
	// Barrier is the priority up to which nobody is granted the lock, by whatever stands in the way, who may not have it; 0
	// is nothing.
	Barrier uint8
	// Priority is the priority that the owner acquired it with.
	Priority [Slots + 1]uint8
	// Until is when the owner's lease ends, by the servers' clock, in virtual milliseconds since the execution began; 0 is
	// never. At that moment it has ended.
	Until [Slots + 1]int32
	// Token is the owner's fencing token; 0 is none.
	Token [Slots + 1]uint32
}

// Lapse takes away what is held by leases that have ended by now, in virtual milliseconds.
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

// Vacate has nobody hold a slot.
func (t *Truth) Vacate(s uint8) {
	t.Taken &^= 1 << s
	t.Owner[s], t.Priority[s], t.Until[s], t.Token[s] = 0, 0, 0, 0
}

// Lowest is the lowest slot that nobody has, which is that of a permit without a number; 0 if there is none.
func (t *Truth) Lowest() uint8 { return firstSlot(AllSlots &^ t.Taken) }

// Nearest is when the next lease ends, in virtual milliseconds since the execution began; 0 if none does.
func (t *Truth) Nearest() (at int64) {
	for s := uint8(1); s <= Slots; s++ {
		if u := int64(t.Until[s]); u > 0 && (at == 0 || u < at) {
			at = u
		}
	}
	return at
}

// Free are the slots that exist, can be had, and have no holder.
func (t *Truth) Free() uint16 { return t.Exists &^ t.Taken &^ t.Pending }

// Count is C, the number of slots: those before the first that is missing.
func (t *Truth) Count() int { return bits.TrailingZeros16(^(t.Exists >> 1)) }

// Contiguous reports whether the slots are exactly 1 to C, without a hole.
func (t *Truth) Contiguous() bool { return t.Exists>>1 == 1<<t.Count()-1 }

// AllSlots is the set of every slot that truth is kept of.
const AllSlots uint16 = 1<<(Slots+1) - 2
