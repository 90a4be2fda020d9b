package drawn

import (
	"github.com/lockproof/lockproof/model/lock"
)

// Kinds configures what kind of history is drawn.
type Kinds struct {
	Kind     lock.Kind
	Clients  int
	Slots    int
	Steps    int // number of steps of the simulated lock and its clients
	Admins   int // number of clients that administer
	Faults   int // faults per hundred steps
	Alone    bool
	Atomic   bool // an acquire looks at all slots in one atomic step
	Unnamed  bool
	Blind    bool // ends of connections are not recorded
	Loose    bool // the end of a connection may or may not free its client's slots
	Late     bool // the end of a crashed client's connection is recorded only when it is noticed
	Reuse    bool // a client that lost its connection keeps its process number
	Corrupts int  // number of changes made to the finished history
}

// Any draws a configuration at random.
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
