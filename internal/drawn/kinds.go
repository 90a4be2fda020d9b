package drawn

import (
	"github.com/lockproof/lockproof/model/lock"
)

// drawn says what kinds of histories are drawn.
type Kinds struct {
	Kind     lock.Kind
	Clients  int
	Slots    int
	Steps    int // things that happen
	Admins   int // clients that administer
	Faults   int // of a hundred things that happen
	Alone    bool
	Atomic   bool // acquires look at all slots at once
	Unnamed  bool
	Blind    bool // connections' ends are not recorded
	Loose    bool // the end of a connection frees what its client has, or does not
	Late     bool // the end of a crashed client's connection is recorded when it is seen
	Reuse    bool // a client that lost its connection goes on under its number
	Corrupts int  // changes made to the history afterwards
}

// Any draws what to draw.
func Any(c Chooser) Kinds {
	d := Kinds{
		Clients: 2 + c.Below(3), Slots: c.Below(4), Steps: 8 + c.Below(50), Faults: []int{0, 0, 3, 12}[c.Below(4)],
		Atomic: c.Below(2) == 0, Reuse: c.Below(4) == 0, Blind: c.Below(6) == 0,
	}
	switch c.Below(6) {
	case 0:
		d.Kind, d.Slots = lock.Mutex, 1
	case 1:
		d.Kind, d.Slots = lock.PersistentMutex, c.Below(2)
	case 2:
		d.Unnamed, d.Slots = true, 1+c.Below(3)
	}
	if d.Kind != lock.Mutex && !d.Unnamed {
		d.Admins = []int{0, 0, 1, 2}[c.Below(4)]
		d.Alone = c.Below(2) == 0
	}
	if c.Below(3) > 0 {
		d.Corrupts = 1 + c.Below(4)
	}
	d.Late = c.Below(4) == 0
	d.Loose = c.Below(3) == 0
	return d
}
