package amqplock

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
)

// Writes are the roles of the queues that an operation may declare, delete or lose. A search uses them to find commands
// of other clients that are independent of the operation.
func (p *Protocol) Writes(op lock.Op) backend.Roles {
	switch {
	case op.Administrative():
		return 1<<backend.Slot | 1<<backend.AdminMutex
	case op == lock.Acquire, op == lock.Verify, op == lock.Release:
		return 1<<backend.Holder | 1<<backend.Mutex
	}
	return 0
}
