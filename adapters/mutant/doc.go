// Package mutant has the reference locks with one bug each: the suite that proves the prover. Every
// mutant names the property that it breaks, and every property has a mutant that breaks it.
//
// A mutant is made of as little as shows the bug: an option that is never safe, another naming, or
// hooks into the reference's machine ([lock.Protocol]) that alter one command, one reply or one
// turn. What a mutant says of itself is what the person who wrote it did.
package mutant

import (
	"slices"

	"github.com/lockproof/lockproof/model/lock"
)

// All are the mutants, by theme.
var All = slices.Concat(acquiring, verifying, releasing, administering, queues, names, driving)

// Named is the mutant with that name, or nil.
func Named(name string) *lock.Target {
	i := slices.IndexFunc(All, func(t *lock.Target) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}
