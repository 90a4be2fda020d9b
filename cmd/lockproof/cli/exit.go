package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// Exit codes.
const (
	exitHolds        = 0
	exitViolated     = 1
	exitCannot       = 2 // the run could not be made
	exitInterrupted  = 3
	exitInconclusive = 4 // nothing was judged, or an answer is missing
)

// Errors of a run that was made and did not end well.
var (
	errViolated     = errors.New("violated")
	errInterrupted  = errors.New("interrupted")
	errInconclusive = errors.New("inconclusive")
)

// ended is the error of a run whose report is written: nil if all is well.
func ended(r *report.Report) error {
	switch r.Outcome() {
	case report.OutcomeHolds, report.OutcomeKnown:
		return nil
	case report.OutcomeViolated:
		return errViolated
	case report.OutcomeInterrupted:
		return errInterrupted
	}
	return errInconclusive
}

// exitCode is the exit code of a command that ended with that error. If several things can be said, a violation comes
// first, then that the user has interrupted it, then what went wrong, then what is missing.
func exitCode(err error, interrupted bool) int {
	switch {
	case err == nil:
		return exitHolds
	case errors.Is(err, errViolated):
		return exitViolated
	case interrupted:
		return exitInterrupted
	case len(troubles(err)) > 0:
		return exitCannot
	case errors.Is(err, errInterrupted) || errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitInconclusive
}

// several has the error that ended a command, and its other errors.
type several []error

// all is several errors in one, nil where there are none.
func all(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return several(errs)
}

// Error is all of it.
func (s several) Error() string { return errors.Join(s...).Error() }

// Unwrap is each of it.
func (s several) Unwrap() []error { return s }

// troubles are the failures in an error, each to be said in a line of its own. The verdict of a run is no failure,
// and neither is its interruption.
func troubles(err error) (out []error) {
	if s, ok := err.(several); ok {
		for _, part := range s {
			out = append(out, troubles(part)...)
		}
		return out
	}
	if err == nil || errors.Is(err, errViolated) || errors.Is(err, errInterrupted) || errors.Is(err, errInconclusive) {
		return nil
	}
	if err = withoutCanceled(err); err != nil {
		out = append(out, err)
	}
	return out
}

// hints say what to type after errors of packages that know nothing of the command line.
var hints = []struct {
	of    error
	say   string
	names func() []string // one of which may be meant
}{
	{engine.ErrUnknownTarget, ": `lockproof list targets` shows them", targetNames},
	{property.ErrUnknown, ": `lockproof list properties` shows them", propertyNames},
	{lock.ErrUnknownOption, ": `lockproof list options` shows them", optionNames},
	{foreign.ErrOtherType, " (--lock-type)", func() []string { return nil }},
	{gate.ErrProtocol, " (--server)", func() []string { return nil }},
}

// hint says what to type instead of the cause of an error; "" if the error says that itself.
func hint(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.of) {
			return h.say + didYouMean(quoted(err), h.names())
		}
	}
	return memberNow(err)
}

// withoutCanceled is an error without the parts that say that the run was interrupted: nil if nothing else is left.
func withoutCanceled(err error) error {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		var rest []error
		for _, part := range e.Unwrap() {
			rest = append(rest, withoutCanceled(part))
		}
		if errors.Is(err, context.Canceled) {
			return errors.Join(rest...)
		}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil && withoutCanceled(inner) == nil {
			return nil
		}
	}
	if err == context.Canceled {
		return nil
	}
	return err
}
