package amqplock

import (
	"strconv"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
)

// Naming gives the name of a lock's queue. Two queues must never have the same name, whatever the names of locks are
// (property name-safety).
type Naming func(lock string, role backend.Role, slot int) string

// Names is the reference's naming. Slot 1 of the lock N has the queues N-1-A and N-1-B, as in the guidelines, and the
// administration mutex is N-admin. The end of a name tells role and slot, so that no two queues have the same name.
func Names(lock string, role backend.Role, slot int) string {
	if role == backend.Slot || role == backend.Holder {
		return lock + "-" + strconv.Itoa(slot) + "-" + role.String()
	}
	return lock + "-" + role.String()
}

// Layout has the queues of one lock, by their numbers in an amqp.Names.
type Layout struct {
	Lock  string
	Slots int          // the largest slot number for which there are names
	A, B  []amqp.Queue // by slot number; index 0 is only used if RemoveReading is literal
	Admin amqp.Queue
	Mutex amqp.Queue
}

// NewLayout interns the names of a lock's queues, for slots 0 to slots.
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
