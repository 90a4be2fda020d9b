package engine

import (
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/model/lock"
)

// Targets are all targets of this module: for each backend the reference locks, then the mutants.
func Targets() (all []*lock.Target) {
	for _, b := range lock.Backends() {
		all = append(all, b.Targets()...)
	}
	return all
}

// References are the locks of all backends that should violate no property.
func References() (all []*lock.Target) {
	for _, b := range lock.Backends() {
		all = append(all, b.References...)
	}
	return all
}

// Mutants are variants of the reference locks with one bug each, which test the tool itself.
func Mutants() (all []*lock.Target) {
	for _, b := range lock.Backends() {
		all = append(all, b.Mutants...)
	}
	return all
}

// ErrUnknownTarget is wrapped by the error for a name that is no target's.
var ErrUnknownTarget = errors.New("not known")

// TargetNamed is the target with the given name.
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

// OptionsOf are the options of a target, with the values that fixed gives by name.
func OptionsOf(t *lock.Target, fixed [][2]string) (lock.Options, error) {
	return t.Set(lock.BackendOf(t).Defaults, fixed)
}
