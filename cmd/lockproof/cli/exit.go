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
	exitCannot       = 2 // the run could not be carried out
	exitInterrupted  = 3
	exitInconclusive = 4 // nothing was judged, or an answer is missing
)

// Errors of a completed run that did not succeed.
var (
	errViolated     = errors.New("violated")
	errInterrupted  = errors.New("interrupted")
	errInconclusive = errors.New("inconclusive")
)

// ended is the error for a run whose report is written: nil if nothing is wrong.
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

// exitCode is the exit code of a command that ended with err. If several apply, the order is: a violation, the user's
// interruption, a failure, a missing answer.
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

// several contains the error that ended a command, and further errors.
type several []error

// all joins errors, nil if there are none.
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

// Error is the text of all errors.
func (s several) Error() string { return errors.Join(s...).Error() }

// Unwrap is all errors.
func (s several) Unwrap() []error { return s }

// troubles are the failures within an error, each to be printed in a separate line. The verdict of a run is not a failure,
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

// hints say what to type after errors of packages that do not know the command line.
var hints = []struct {
	of    error
	say   string
	names func() []string // the names among which one may be meant
}{
	{engine.ErrUnknownTarget, ": `lockproof list targets` shows them", targetNames},
	{property.ErrUnknown, ": `lockproof list properties` shows them", propertyNames},
	{lock.ErrUnknownOption, ": `lockproof list options` shows them", optionNames},
	{foreign.ErrOtherType, " (--lock-type)", func() []string { return nil }},
	{gate.ErrProtocol, " (--server)", func() []string { return nil }},
}

// hint says what to type after an error; "" if the error itself says that.
func hint(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.of) {
			return h.say + didYouMean(quoted(err), h.names())
		}
	}
	return memberNow(err)
}

// withoutCanceled is an error without the parts that report an interruption: nil if nothing else is left.
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
