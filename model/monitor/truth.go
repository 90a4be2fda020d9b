package monitor

import "math/bits"

// Slots is the largest slot number in a Truth, and therefore of simulated locks.
const Slots = 11

// HalfOpen is a bit of an owner's number. It is set if the owner's connection is dead or given up, and the broker has
// not noticed.
const HalfOpen uint8 = 0x80

// Truth is the broker's state of one lock at one moment. In sets of slots, bit s is slot s. A true mutex is slot 1,
// which always exists.
type Truth struct {
	Exists uint16 // slots whose A queue exists
	Taken  uint16 // slots whose B queue exists
	// Pending are slots without a holder that cannot be granted now. For example, an open transaction is taking the
	// slot, or a client that released its token has yet to publish it again.
	Pending uint16
	// Owner is, by slot, the number of the client whose connection owns the slot's B queue exclusively; 0 is no client.
	// The bit HalfOpen is set if the client no longer uses that connection.
	Owner [Slots + 1]uint8
	// Admin is the number of the client that has the administration mutex, as in Owner.
	Admin uint8
	// Limit is the number of clients that may hold the lock at once, as stored on the servers; 0 means the number of
	// slots.
	Limit uint8
	// Barrier is a priority: clients with this or a lower priority are not granted the lock, even if the barrier's
	// owner does not hold it. 0 is no barrier.
	Barrier uint8
	// Priority is, by slot, the priority with which the owner acquired it.
	Priority [Slots + 1]uint8
	// Until is, by slot, the end of the owner's lease by the servers' clock, in virtual milliseconds since the
	// execution began; 0 is no end. At this moment the lease is over.
	Until [Slots + 1]int32
	// Token is, by slot, the owner's fencing token; 0 is none.
	Token [Slots + 1]uint32
}

// Lapse removes the holders whose leases have ended at time now, in virtual milliseconds.
func (t *Truth) Lapse(now int64) {
	for s := uint8(1); s <= Slots; s++ {
		if t.Until[s] != 0 && int64(t.Until[s]) <= now {
			t.Vacate(s)
		}
	}
}

// ending are the slots with a holder whose lease has an end.
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

// Lowest is the lowest slot that is not taken, whether it exists or not; 0 if there is none. A permit gets this number.
func (t *Truth) Lowest() uint8 { return firstSlot(AllSlots &^ t.Taken) }

// Nearest is the end of the lease that ends next, in virtual milliseconds since the execution began; 0 if no lease
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

// Count is the number of existing slots before the first missing one: C in the guidelines.
func (t *Truth) Count() int { return bits.TrailingZeros16(^(t.Exists >> 1)) }

// Contiguous reports whether there is no hole among the slots.
func (t *Truth) Contiguous() bool { return t.Exists>>1 == 1<<t.Count()-1 }

// AllSlots is the set of all slots that a Truth can have.
const AllSlots uint16 = 1<<(Slots+1) - 2
