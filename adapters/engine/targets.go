package engine

import (
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/model/lock"
)

// Targets returns all locks of this module: for each backend the reference locks, then the mutants.
func Targets() (all []*lock.Target) {
	for _, b := range lock.Backends() {
		all = append(all, b.Targets()...)
	}
	return all
}

// References returns the reference locks of all backends. They should violate no property.
func References() (all []*lock.Target) {
	for _, b := range lock.Backends() {
		all = append(all, b.References...)
	}
	return all
}

// Mutants returns variants of the reference locks with one bug each. They test lockproof itself.
func Mutants() (all []*lock.Target) {
	for _, b := range lock.Backends() {
		all = append(all, b.Mutants...)
	}
	return all
}

// ErrUnknownTarget is wrapped by the error for a name that no target has.
var ErrUnknownTarget = errors.New("not known")

// TargetNamed returns the target with the given name.
func TargetNamed(name string) (*lock.Target, error) {
	if t := lock.TargetNamed(name); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("target %q is %w", name, ErrUnknownTarget)
}

// Reference returns AMQP's reference lock of a type, for example its mutex.
func Reference(k lock.Kind) *lock.Target {
	amqp, err := lock.BackendNamed("")
	if err != nil {
		panic(err) // cannot happen: backends.go registers the backend
	}
	return amqp.Reference(k)
}

// OptionsOf returns the options of a target: the defaults, changed by the name-value pairs in fixed.
func OptionsOf(t *lock.Target, fixed [][2]string) (lock.Options, error) {
	return t.Set(lock.BackendOf(t).Defaults, fixed)
}
