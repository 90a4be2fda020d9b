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
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// mostCarriedOut bounds how many counterexamples of a lock a run carries out before its own executions.
const mostCarriedOut = 200

// Lock tells which counterexamples are those of a run's lock.
type Lock struct {
	Target        string // "" is not known: a program is known by its command
	Exec          string
	Command       string // that found it; "" is any
	Kind          lock.Kind
	Server        string // its kind, as scenarios name it
	Servers       int
	Options       []string // that the run was told
	FailedAcquire property.FailedAcquire
	Holes         bool // it may begin with slots missing
	Restarts      bool // its server can be restarted
	Judged        property.Set
	Own           own.List
}

// has reports whether a counterexample is one of the lock, and of what is judged.
func (l *Lock) has(ce *histories.Counterexample) bool {
	p, known := ce.Property, true
	if ce.Violation.Own != "" {
		p, known = l.Own.Named(ce.Violation.Own)
	}
	return known && l.Judged.Has(p) && l.same(ce) && l.can(ce)
}

// same reports whether a counterexample's lock is this one.
func (l *Lock) same(ce *histories.Counterexample) bool {
	options := slices.Sorted(slices.Values(l.Options))
	return (l.Target == "" || l.Target == ce.Scenario.Target) && l.Exec == ce.Exec && (l.Exec == "" || l.Kind == ce.Kind) &&
		(l.Command == "" || l.Command == ce.Origin.Command) && l.Server == ce.Scenario.Server && max(1, l.Servers) == max(1, ce.Servers) &&
		l.FailedAcquire == ce.FailedAcquire && slices.Equal(options, slices.Sorted(slices.Values(ce.Origin.Options)))
}

// can reports whether the run could have come to such an execution.
func (l *Lock) can(ce *histories.Counterexample) bool {
	missing := slices.ContainsFunc(ce.Scenario.Locks, func(k scenario.Lock) bool { return k.Missing != 0 })
	return (l.Holes || !missing) && (l.Restarts || !ce.Scenario.Restarts())
}

// Earlier is what became of the counterexamples of earlier runs.
type Earlier struct {
	folder Folder
	again  []again
	told   report.Earlier
	Err    error // of files that could not be read or moved
}

// again is a counterexample whose execution violates its property again.
type again struct {
	File
	*engine.Replayed
}

// Run carries out what is kept of a lock, and moves each file to where it belongs. The error is for clients that could not be
// run. An end of ctx leaves the rest as it is.
func Run(ctx context.Context, f Folder, l Lock, replay func(context.Context, *histories.Counterexample) (*engine.Replayed, error)) (*Earlier, error) {
	files, err := f.read(l.has)
	e := &Earlier{folder: f, Err: err}
	if n := len(files); n > mostCarriedOut {
		e.Err = errors.Join(e.Err, fmt.Errorf("%d counterexamples of this lock are in %s, and %d are carried out: delete those that you need no more", n, f.At.Path, mostCarriedOut))
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
			return nil, fmt.Errorf("%s: %w", f.Place(file.name).Path, err)
		}
		e.settle(&file, r)
	}
	return e, nil
}

// settle takes in what one came to.
func (e *Earlier) settle(file *File, r *engine.Replayed) {
	var err error
	switch {
	case r.Violation != nil && file.passed():
		err = e.folder.move(file, ".")
	case r.Violation == nil && !file.passed():
		err = e.folder.move(file, Passed)
	case r.Violation == nil:
		e.told.Held++
		return
	}
	if !errors.Is(err, fs.ErrNotExist) { // another run has moved it
		e.Err = errors.Join(e.Err, err)
	}
	path := e.folder.Place(file.name).Path
	if r.Violation == nil {
		e.told.Passed = append(e.told.Passed, path)
		return
	}
	e.again = append(e.again, again{*file, r})
	e.told.Again = append(e.told.Again, path)
}

// Into puts it into what the run came to. A property of which the run itself has shown no violation, or one that is known, is
// violated by what was kept. command is what shows a file's execution.
func (e *Earlier) Into(res *engine.Result, findings known.Findings, command func(ce *histories.Counterexample, path string) string) {
	res.Report.Earlier = e.told
	shown := make(map[property.Property]bool) // by what is new
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
		p.Violation.File = e.folder.Place(a.name).Path
		p.Violation.Command = command(a.Counterexample, p.Violation.File)
		p.Violation.Earlier, p.Violation.Fingerprint = true, a.Fingerprint()
		res.Traces[a.Property] = a.Trace
	}
}
