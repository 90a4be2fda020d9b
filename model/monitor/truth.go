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
	// Pending are slots that nobody has, and nobody can have yet: whoever wants one first makes it.
	Pending uint16
	// Owner is the number of the client whose connection has the slot's B queue exclusively, with
	// the bit HalfOpen where that connection is one it does not use any more; 0 is nobody.
	Owner [Slots + 1]uint8
	// Admin is likewise who has the administration mutex.
	Admin uint8
}

// Free are the slots that exist, can be had, and have no holder.
func (t *Truth) Free() uint16 { return t.Exists &^ t.Taken &^ t.Pending }

// Count is C, the number of slots: those before the first that is missing.
func (t *Truth) Count() int { return bits.TrailingZeros16(^(t.Exists >> 1)) }

// Contiguous reports whether the slots are exactly 1 to C, without a hole.
func (t *Truth) Contiguous() bool { return t.Exists>>1 == 1<<t.Count()-1 }

// AllSlots is the set of every slot that truth is kept of.
const AllSlots uint16 = 1<<(Slots+1) - 2
