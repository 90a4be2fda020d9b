package engine

import "errors"

// ErrConfiguration is wrapped by the error of a run whose configuration is invalid. Such a run executes nothing.
var ErrConfiguration = errors.New("invalid configuration")

// configurationError marks an error as caused by an invalid configuration. It does not change the error's text.
type configurationError struct{ error }

// Is reports whether target is [ErrConfiguration].
func (configurationError) Is(target error) bool { return target == ErrConfiguration }

// Unwrap returns the marked error.
func (e configurationError) Unwrap() error { return e.error }

// Configuration marks err as caused by an invalid configuration: see [ErrConfiguration]. It returns nil if err is nil.
func Configuration(err error) error {
	if err == nil {
		return nil
	}
	return configurationError{err}
}
