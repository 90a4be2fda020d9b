package engine

import "errors"

// ErrConfiguration is, somewhere in it, the error of a run whose configuration makes no sense: nothing was run.
var ErrConfiguration = errors.New("invalid configuration")

// configurationError is an error about a configuration. It says no more than that error does.
type configurationError struct{ error }

// Is reports whether the target is [ErrConfiguration].
func (configurationError) Is(target error) bool { return target == ErrConfiguration }

// Unwrap is what makes no sense.
func (e configurationError) Unwrap() error { return e.error }

// Configuration is an error about a configuration, or nil.
func Configuration(err error) error {
	if err == nil {
		return nil
	}
	return configurationError{err}
}
