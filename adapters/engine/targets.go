package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/mutant"
	"github.com/lockproof/lockproof/model/lock"
)

// Targets are all that can be judged: the reference locks, then the mutants.
func Targets() []*lock.Target {
	return slices.Concat(lock.References, Mutants())
}

// Mutants are the variants of the reference with one bug each, which prove the prover.
func Mutants() []*lock.Target { return mutant.All }

// ErrUnknownTarget is, somewhere in it, the error of a name that no target has.
var ErrUnknownTarget = errors.New("not known")

// TargetNamed is the target with that name.
func TargetNamed(name string) (*lock.Target, error) {
	for _, t := range Targets() {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("target %q is %w", name, ErrUnknownTarget)
}
