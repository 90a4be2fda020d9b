package engine

import (
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/model/lock"
)

// Targets are all that can be judged: of each backend the reference locks, then the mutants.
func Targets() (all []*lock.Target) {
	for _, b := range lock.Backends() {
		all = append(all, b.Targets()...)
	}
	return all
}

// References are the locks of all backends that should break no property.
func References() (all []*lock.Target) {
	for _, b := range lock.Backends() {
		all = append(all, b.References...)
	}
	return all
}

// Mutants are the variants of the references with one bug each, which prove the prover.
func Mutants() (all []*lock.Target) {
	for _, b := range lock.Backends() {
		all = append(all, b.Mutants...)
	}
	return all
}

// ErrUnknownTarget is, somewhere in it, the error of a name that no target has.
var ErrUnknownTarget = errors.New("not known")

// TargetNamed is the target with that name.
func TargetNamed(name string) (*lock.Target, error) {
	if t := lock.TargetNamed(name); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("target %q is %w", name, ErrUnknownTarget)
}

// Reference is AMQP's reference lock of a type.
func Reference(k lock.Kind) *lock.Target {
	amqp, err := lock.BackendNamed("")
	if err != nil {
		panic(err) // it is registered: see backends.go
	}
	return amqp.Reference(k)
}

// OptionsOf are the options of a target with some that were fixed, by name and value.
func OptionsOf(t *lock.Target, fixed [][2]string) (lock.Options, error) {
	return t.Set(lock.BackendOf(t).Defaults, fixed)
}
