package lock

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
)

// MaxClients and MaxLocks bound one execution, so that what watches it is a value of fixed size.
const (
	MaxClients = 8
	MaxLocks   = 2
)

// MaxSlots is the largest slot number that a machine can hold or probe: a machine counts slots in a
// byte, and add may go beyond what create was given.
const MaxSlots = 250

// Naming gives the name of a lock's queue. It must never give one name twice, whatever the locks are
// called (property name-safety).
type Naming func(lock string, role backend.Role, slot int) string

// Names is the reference's naming: the guidelines' N-1-A and N-1-B, and N-admin for the
// administration mutex, which the guidelines leave open. Reading a name from its end, the role, the
// slot and the lock can be told apart, so no two queues share a name.
func Names(lock string, role backend.Role, slot int) string {
	if role == backend.Slot || role == backend.Holder {
		return lock + "-" + strconv.Itoa(slot) + "-" + role.String()
	}
	return lock + "-" + role.String()
}

// CheckName reports what is wrong with a lock's name: a queue's name has at most 255 bytes, and those
// that begin with "amq." are the broker's own.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("lock name is empty: expected at least one character")
	case len(name) > 240:
		return fmt.Errorf("lock name of %d bytes: expected at most 240, since a queue's name has at most 255", len(name))
	case strings.HasPrefix(name, "amq."):
		return fmt.Errorf("lock name %q: names that begin with \"amq.\" are the broker's own", name)
	}
	return nil
}

// Layout is the queues of one lock, interned.
type Layout struct {
	Lock  string
	Slots int          // the largest slot number that has names
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
