package subprocess

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/lock"
)

// shared returns examples of calls to clients that can hold a lock together. An acquire states whether it is for
// reading or writing ("modes":true), or how many permits it takes ("permits":true).
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
