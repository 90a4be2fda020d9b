package mutant

import (
	"strconv"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/lock"
)

var names = []*lock.Target{
	{
		Name: "admin-mutex-is-lock-name", Breaks: "name-safety",
		Doc: "the administration mutex has the semaphore's own name, which may be another's A queue",
		Design: amqplock.Design{Naming: func(name string, role backend.Role, slot int) string {
			if role == backend.AdminMutex {
				return name
			}
			return amqplock.Names(name, role, slot)
		}},
	},
	{
		Name: "names-run-together", Breaks: "name-safety",
		Doc: "names are put together without separators: slot 1 of jobs1 is slot 11 of jobs",
		Design: amqplock.Design{Naming: func(name string, role backend.Role, slot int) string {
			return name + strconv.Itoa(slot) + role.String()
		}},
	},
}
