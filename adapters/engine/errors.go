package engine

import "errors"

// ErrConfiguration is wrapped by the error of a run with an invalid configuration: nothing was run.
var ErrConfiguration = errors.New("invalid configuration")

// configurationError marks an error as one of a configuration, with the same text.
type configurationError struct{ error }

// Is reports whether target is [ErrConfiguration].
func (configurationError) Is(target error) bool { return target == ErrConfiguration }

// Unwrap is the marked error.
func (e configurationError) Unwrap() error { return e.error }

// Configuration marks an error as one of a configuration. The result is nil if err is nil.
func Configuration(err error) error {
	if err == nil {
		return nil
	}
	return configurationError{err}
}
