package kept

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// mostCarriedOut is the maximum number of counterexamples of a lock that a run repeats before its own executions.
const mostCarriedOut = 200

// Past says where earlier runs have stored their counterexamples.
type Past struct {
	Folder
	By      string                                                         // the command that found them; "" means any
	Command func(ce *histories.Counterexample, path string) (shows string) // the command that replays path; may be nil
}

// Carrier is a run's configuration that can repeat the counterexamples which earlier runs stored for its lock.
type Carrier interface {
	CarryOut(context.Context, Past) (*Earlier, error)
}

// Lock says which stored counterexamples belong to a run's lock.
type Lock struct {
	Target   string // name of the target; "" if unknown, because a program is identified by its command
	Exec     string
	Kind     lock.Kind
	Server   string // kind of the lock's server, as in scenarios
	Servers  int
	Options  []string // options of the run, as name=value
	Holes    bool     // the lock's initial slots may have gaps
	Restarts bool     // the lock's server can be restarted
	engine.Judging
}

// has reports whether a counterexample belongs to the lock, could occur in this run, and violates a judged property.
func (l *Lock) has(ce *histories.Counterexample) bool {
	p, known := ce.Property, true
	if ce.Violation.Own != "" {
		p, known = l.Own.Named(ce.Violation.Own)
	}
	return known && l.Properties.Has(p) && l.same(ce) && l.can(ce)
}

// same reports whether a counterexample was found with this lock.
func (l *Lock) same(ce *histories.Counterexample) bool {
	options := slices.Sorted(slices.Values(l.Options))
	return (l.Target == "" || l.Target == ce.Scenario.Target) && l.Exec == ce.Exec && (l.Exec == "" || l.Kind == ce.Kind) &&
		l.Server == ce.Scenario.Server && max(1, l.Servers) == max(1, ce.Servers) &&
		l.FailedAcquire == ce.FailedAcquire && slices.Equal(options, slices.Sorted(slices.Values(ce.Origin.Options)))
}

// can reports whether the execution of a counterexample is possible in this run.
func (l *Lock) can(ce *histories.Counterexample) bool {
	missing := slices.ContainsFunc(ce.Scenario.Locks, func(k scenario.Lock) bool { return k.Missing != 0 })
	return (l.Holes || !missing) && (l.Restarts || !ce.Scenario.Restarts())
}

// Earlier is the result of repeating the counterexamples of earlier runs.
type Earlier struct {
	past  Past
	again []again
	told  report.Earlier
	Err   error // for files that could not be read or moved; nil if there were none
}

// again is a counterexample whose execution still violates its property.
type again struct {
	File
	*engine.Replayed
}

// Run repeats the stored counterexamples of a lock. It moves a file to the subfolder "passed" if its execution no
// longer fails, and back if it fails again. The error is for clients that could not be run. If ctx ends, the files that
// are left stay where they are.
func Run(ctx context.Context, past Past, l Lock, replay func(context.Context, *histories.Counterexample) (*engine.Replayed, error)) (*Earlier, error) {
	files, err := past.read(func(ce *histories.Counterexample) bool {
		return (past.By == "" || past.By == ce.Origin.Command) && l.has(ce)
	})
	e := &Earlier{past: past, Err: err}
	if n := len(files); n > mostCarriedOut {
		e.Err = errors.Join(e.Err, fmt.Errorf("%d counterexamples of this lock are in %s, and %d are carried out: delete those that you need no more", n, past.At.Path, mostCarriedOut))
		files = files[:mostCarriedOut]
	}
	for _, file := range files {
		if file.Violation.Own != "" {
			file.Property, _ = l.Own.Named(file.Violation.Own)
		}
		r, err := replay(ctx, file.Counterexample)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", past.Place(file.name).Path, err)
		}
		e.settle(&file, r)
	}
	return e, nil
}

// settle records the result r of repeating a stored counterexample, for the report. It moves the file to the other
// folder if the counterexample fails again, or has passed for the first time.
func (e *Earlier) settle(file *File, r *engine.Replayed) {
	var err error
	switch {
	case r.Violation != nil && file.passed():
		err = e.past.move(file, ".")
	case r.Violation == nil && !file.passed():
		err = e.past.move(file, Passed)
	case r.Violation == nil:
		e.told.Held++
		return
	}
	if !errors.Is(err, fs.ErrNotExist) { // not an error: another run has moved the file
		e.Err = errors.Join(e.Err, err)
	}
	path := e.past.Place(file.name).Path
	if r.Violation == nil {
		e.told.Passed = append(e.told.Passed, path)
		return
	}
	e.again = append(e.again, again{*file, r})
	e.told.Again = append(e.told.Again, path)
}

// Into adds the violations of stored counterexamples to the result of the run. A stored violation is reported if the
// run itself shows no violation of the property. It also replaces a known violation of the run if it is unknown itself.
// e may be nil.
func (e *Earlier) Into(res *engine.Result, findings known.Findings) {
	if e == nil {
		return
	}
	res.Report.Earlier = e.told
	shown := make(map[property.Property]bool) // properties for which the run shows an unknown violation
	for _, ce := range res.Counterexamples("") {
		shown[ce.Property] = !ce.Suspected && findings.Of(ce.Violation.Name(), ce.Fingerprint()) == nil
	}
	for _, a := range e.again {
		p := res.Report.Result(a.Property)
		fresh := findings.Of(a.Violation.Name(), a.Fingerprint()) == nil
		if p == nil || p.Violation != nil && (shown[a.Property] || !fresh) {
			continue
		}
		shown[a.Property] = fresh
		p.Checked = max(1, p.Checked)
		p.Violation = engine.FoundIn(a.Trace, a.Property)
		p.Violation.Tries = a.Tries
		p.Violation.File = e.past.Place(a.name).Path
		if e.past.Command != nil {
			p.Violation.Command = e.past.Command(a.Counterexample, p.Violation.File)
		}
		p.Violation.Earlier, p.Violation.Fingerprint = true, a.Fingerprint()
		res.Traces[a.Property] = a.Trace
	}
}
