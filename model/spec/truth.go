package spec

// Slots is the largest slot number that truth is kept of: simulated locks have at most that many.
const Slots = 11

// Truth is what the broker has of one lock at one moment. Bit s of a set stands for slot s.
type Truth struct {
	Exists uint16 // slots whose A queue exists
	Taken  uint16 // slots whose B queue exists
	// Owner is the number of the client whose connection has the slot's B queue exclusively; 0 is
	// nobody.
	Owner [Slots + 1]uint8
	// Admin is the client whose connection has the administration mutex; 0 is nobody.
	Admin uint8
}

// Free are the slots that exist and have no holder.
func (t *Truth) Free() uint16 { return t.Exists &^ t.Taken }

// Violation is one property seen broken.
type Violation struct {
	Property Property
	Lock     uint8
	Client   uint8 // whose step or answer broke it, from 1; 0 is the broker
	Other    uint8 // the other client concerned; 0 is none
	Slot     uint8 // the slot concerned; 0 is none
	Detail   string
}
