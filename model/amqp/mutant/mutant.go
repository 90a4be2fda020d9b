package mutant

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// All are the mutants of the locks on queues, grouped by theme, such as acquiring or naming.
var All = slices.Concat(acquiring, verifying, releasing, administering, queues, names, driving, unconfirmed)

// Named is the mutant with that name, or nil.
func Named(name string) *lock.Target {
	i := slices.IndexFunc(All, func(t *lock.Target) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}
