package amqplock

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
)

// QueueRole is the purpose of a queue: its lock, its slot, and its role there. The zero value is a queue without a
// known purpose.
type QueueRole struct {
	Lock, Slot uint8
	Role       backend.Role
	Known      bool
	Collides   bool // the queue also belongs to another lock, or has a second role
}

// Leftover describes what is wrong if a queue with this role still exists after the execution, with the given number of
// messages; "" means nothing. kept says that the queue has an owner, or that a client believes it holds the queue's
// slot.
func (r *QueueRole) Leftover(messages int, kept bool) string {
	switch {
	case messages > 0:
		return "messages are left in a queue"
	case r.Role == backend.Slot && r.Slot == 0:
		return "a queue is left that is no slot's"
	case r.Role != backend.Slot && !kept:
		return "a queue is left that is nobody's"
	}
	return ""
}

// QueueRoles has the role of each queue, indexed by the queue's number.
type QueueRoles []QueueRole

// Learn adds the roles of the queues of lock number l. The layout's names must be interned in names.
func (ms *QueueRoles) Learn(l uint8, kind lock.Kind, layout *Layout, names *amqp.Names) {
	*ms = append(*ms, make([]QueueRole, names.Len()+1-len(*ms))...)
	note := func(q amqp.Queue, role backend.Role, slot int) {
		m := &(*ms)[q]
		if m.Known {
			m.Collides = true
			return
		}
		*m = QueueRole{Lock: l, Slot: uint8(slot), Role: role, Known: true}
	}
	if kind == lock.Mutex {
		note(layout.Mutex, backend.Mutex, 1)
		return
	}
	for s := 0; s <= layout.Slots; s++ {
		note(layout.A[s], backend.Slot, s)
		note(layout.B[s], backend.Holder, s)
	}
	note(layout.Admin, backend.AdminMutex, 0)
}
