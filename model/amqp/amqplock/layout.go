package amqplock

import (
	"strconv"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
)

// Naming gives the name of a lock's queue. It must never give the same name to two queues, whatever the locks are
// called (property name-safety).
type Naming func(lock string, role backend.Role, slot int) string

// Names is the reference's naming: N-1-A and N-1-B as in the guidelines, and N-admin for the administration mutex,
// which the guidelines leave open. The role, the slot and the lock can be read from the end of a name, so no two
// queues have the same name.
func Names(lock string, role backend.Role, slot int) string {
	if role == backend.Slot || role == backend.Holder {
		return lock + "-" + strconv.Itoa(slot) + "-" + role.String()
	}
	return lock + "-" + role.String()
}

// Layout has the interned queues of one lock.
type Layout struct {
	Lock  string
	Slots int          // the largest slot number with names
	A, B  []amqp.Queue // by slot; index 0 is queue 0 of a literal reading (RemoveReading)
	Admin amqp.Queue
	Mutex amqp.Queue
}

// NewLayout interns the names of a lock's queues for slots 0 to the given number.
func NewLayout(names *amqp.Names, naming Naming, lock string, slots int) *Layout {
	l := &Layout{Lock: lock, Slots: slots}
	for s := 0; s <= slots; s++ {
		l.A = append(l.A, names.Intern(naming(lock, backend.Slot, s)))
		l.B = append(l.B, names.Intern(naming(lock, backend.Holder, s)))
	}
	l.Admin = names.Intern(naming(lock, backend.AdminMutex, 0))
	l.Mutex = names.Intern(naming(lock, backend.Mutex, 0))
	return l
}
