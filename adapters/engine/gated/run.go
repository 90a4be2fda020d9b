package gated

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/tally"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// sharedRun is a run over the scenarios of one seed, shared by its workers.
type sharedRun struct {
	Config
	labels  engine.Labels
	source  *sim.Source
	allowed engine.Allowance

	pool
	next         int // the scenario to play next
	to           int // it ends before this one
	stop         atomic.Bool
	mu           sync.Mutex
	asked        [property.Most]int // executions that fresh clients were asked to reproduce
	known        property.Set       // those of which a violation is known
	later        later
	compared     [property.Most]int // executions of each property that were compared with what is known
	unreproduced bool               // they did not reproduce one
	renewed      int                // executions that had fresh clients because of that
	exploring    bool               // every order of commands is visited; no fault happens, and no cost is measured
	tries        int
	spent        foreign.Spent // of all workers
	confirmed    property.Set  // of those that are measured: what was seen violated for certain
	held         bool          // somebody was seen to hold a lock by what is declared, or nothing is
	unheld       string        // what a worker says that has seen nobody
	totals
}

// totals is what scenarios came to.
type totals struct {
	sum          tally.Tally
	findings     [property.Most]*finding
	about        foreign.About
	broken       map[property.Property]breach // how each promise that is not demanded was broken first
	free         foreign.Uncontrolled
	told         foreign.Told
	wire         gate.Counts
	agreed       int // replies on which a real broker and the simulated one agreed
	traffic      foreign.Traffic
	sharing      bool // clients share a connection
	uncontrolled int  // scenarios that were not controlled altogether
	ended        bool // since clients ended by themselves too often
	// disagreement is how a real broker first did something else than the simulated one.
	disagreement string
}

// breach is how an execution, counted from 0, broke a promise.
type breach struct {
	Execution int
	Detail    string
}

// run has workers run all scenarios from one number up to another, until enough was found or the time for that is over.
// Then violating executions are made smaller, if that is wanted.
func (f *sharedRun) run(ctx context.Context, from, to int, shrink bool) error {
	f.next, f.to = from, to
	want := to - from
	if shrink {
		want = max(want, len(f.shrinkable().BySeverity()))
	}
	want = min(f.Workers, want)
	if want > 0 {
		f.begin(ctx, want-1)
	}
	f.working.Wait()
	if to > from {
		for _, w := range f.workers {
			f.measured(w)
		}
	}
	if errors.Join(f.errs...) == nil && shrink {
		var cancel context.CancelFunc
		f.allowed, cancel = f.allowed.Rest()
		defer cancel()
		f.errs = append(f.errs, f.shrink(ctx, f.workers[:min(want, len(f.workers))]))
	}
	for _, w := range f.workers {
		spent := w.runner.Spent()
		f.spent.Add(&spent)
		f.errs = append(f.errs, w.runner.Close())
	}
	for _, err := range f.errs { // one is enough: the others tend to be the same
		if err != nil {
			return err
		}
	}
	return nil
}

// announce has what the clients announce judged as well, where all is that means something for their lock. It changes nothing
// the second time.
func (f *sharedRun) announce() {
	for _, set := range []*property.Set{&f.Properties, &f.Until} {
		if more := (*set|f.On.meaningless()).Announced(f.Kind, f.about.Traits()) &^ *set; more != 0 {
			*set |= more
		}
	}
}

// measured takes in what a worker has counted: all else of its executions is in the sum already.
func (f *sharedRun) measured(w *worker) {
	f.sum.Merge(&w.part)
	f.agreed += w.runner.Agreed()
	said := w.runner.Unheld()
	f.held, f.unheld = f.held || said == "", said
}

// unexpected reports whether something seems to cost too much that was not seen for certain to do so before.
func (f *sharedRun) unexpected(found property.Set) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return found&foreign.Measured&^f.confirmed != 0
}

// expect notes what was seen for certain.
func (f *sharedRun) expect(found property.Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.confirmed |= found & foreign.Measured
}

// unasked are the promises that the contract does not demand.
func (f *sharedRun) unasked() property.Set { return property.Promises &^ f.Demands }

// wanted are the properties whose violations are made smaller: those that end the run, or all that are judged.
func (f *sharedRun) wanted() property.Set {
	if f.Until != 0 {
		return f.Until &^ f.unasked()
	}
	return f.Properties
}

// take adds an execution to what was found.
func (f *sharedRun) take(i int, x *foreign.Execution) {
	f.mu.Lock()
	defer f.mu.Unlock()
	addTo(&f.sum, i, x)
	f.free.Add(x.Uncontrolled)
	f.told.Add(x.Told)
	f.wire.Add(&x.Wire)
	if f.traffic == nil {
		f.traffic = make(foreign.Traffic)
	}
	f.traffic.Merge(x.Traffic)
	f.disagreement = cmp.Or(f.disagreement, x.Disagreement)
	if !x.Uncontrolled.Free() {
		f.uncontrolled++
	}
	if f.ended = f.Ended(); f.ended {
		f.stop.Store(true)
	}
	if f.Progress != nil {
		f.Progress(f.sum.Progress(f.Scenarios))
	}
}

// How many clients may end by themselves before a run ends, where that is so in nearly all executions, and at all: what they would
// show next is the same.
const (
	someCrashes = 10
	maxCrashes  = 100
)

// Ended reports whether clients ended by themselves so often that a run ends there, or has. Executions under way then are
// brought to their end, and may lower the share of such ends.
func (t *totals) Ended() bool {
	died := t.free.Died
	return t.ended || died >= maxCrashes || died >= someCrashes && 10*died >= 9*t.sum.Scenarios
}

// addTo takes in an execution of somebody else's clients.
func addTo(s *tally.Tally, i int, x *foreign.Execution) {
	s.Scenarios++
	s.Steps += len(x.Steps)
	s.Commands += x.Sent
	s.Operations += x.Called
	if x.Undecided != "" {
		s.Unclear(i, x.Undecided)
	}
	s.Note(i, x.Exercised, x.Found, sim.Covered(x.Trace))
}
