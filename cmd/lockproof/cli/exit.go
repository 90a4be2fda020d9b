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
	exitCannot       = 2 // the run failed, or its input is invalid
	exitInterrupted  = 3
	exitInconclusive = 4 // nothing was judged, or a required verdict is missing
)

// Errors for runs that completed, but without success.
var (
	errViolated     = errors.New("violated")
	errInterrupted  = errors.New("interrupted")
	errInconclusive = errors.New("inconclusive")
)

// ended returns the error for the verdict of a report; nil if nothing is wrong.
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

// exitCode returns the exit code of a command that ended with err. If several codes apply, the order is: a violation,
// the user's interruption, a failure, a missing answer.
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

// several is a list of errors: the one that ended a command first, and then further ones.
type several []error

// all joins errors; it returns nil if there are none.
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

// Error returns the texts of all errors.
func (s several) Error() string { return errors.Join(s...).Error() }

// Unwrap returns all errors.
func (s several) Unwrap() []error { return s }

// troubles returns the failures within an error. Each is to be printed in a line of its own. The verdict of a run is no
// failure, and neither is its interruption.
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

// hints say what to type after certain errors of packages that do not know the command line.
var hints = []struct {
	of    error
	say   string
	names func() []string // known names, one of which the user may have meant
}{
	{engine.ErrUnknownTarget, ": `lockproof list targets` shows them", targetNames},
	{property.ErrUnknown, ": `lockproof list properties` shows them", propertyNames},
	{lock.ErrUnknownOption, ": `lockproof list options` shows them", optionNames},
	{foreign.ErrOtherType, " (--lock-type)", func() []string { return nil }},
	{gate.ErrProtocol, " (--server)", func() []string { return nil }},
}

// hint says what to type after an error. It is "" for other errors.
func hint(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.of) {
			return h.say + didYouMean(quoted(err), h.names())
		}
	}
	return memberNow(err)
}

// withoutCanceled returns an error without the parts that only report an interruption; nil if nothing is left.
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
