package subprocess

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/lock"
)

// shared returns examples of clients that share a lock: those with "modes":true or "permits":true.
func shared() (all []Example) {
	p := foreign.Params{Name: "jobs", Slot: 1}
	for _, told := range []foreign.Params{{Mode: foreign.Read}, {Mode: foreign.Write}, {Limit: 3, Permits: 2}} {
		told.Name = p.Name
		all = append(all, Example{lock.Acquire.String(), ParamsOf(lock.Acquire, told), results(lock.Acquire, p)})
	}
	about := begun{Name: "my-locks 0.3", Locks: []string{lock.Semaphore.String()}, Operations: []string{"acquire", "release"}, Limits: true, Permits: true}
	in := foreign.Setup{Client: "c1", Lock: lock.Semaphore, URLs: []string{"redis://…1/0"}}
	return slices.Insert(all, 2, Example{"initialize", initializing(in, map[string]any{}), []any{about}})
}
