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
	next         int // number of the next scenario
	to           int // the first scenario that no longer belongs to the run
	stop         atomic.Bool
	mu           sync.Mutex
	asked        [property.Most]int // executions that fresh clients tried to reproduce, by property
	known        property.Set       // properties with a known violation
	later        later
	compared     [property.Most]int // executions of each property that were compared with the known violations
	unreproduced bool               // fresh clients failed to reproduce a violation
	renewed      int                // executions that had fresh clients because of that
	exploring    bool               // every order of commands is visited; there are no restarts, and no cost is measured
	tries        int
	spent        foreign.Spent // of all workers
	confirmed    property.Set  // measured properties that were certainly seen violated
	held         bool          // the declaration has shown a holder, or there is no declaration
	unheld       string        // the report of a worker that has seen no holder
	totals
}

// totals is the sum of the results of scenarios.
type totals struct {
	sum          tally.Tally
	findings     [property.Most]*finding
	about        foreign.About
	broken       map[property.Property]breach // the first breach of each promise that is not demanded
	free         foreign.Uncontrolled
	told         foreign.Told
	wire         gate.Counts
	agreed       int // replies on which a real broker and the simulated one agreed
	traffic      foreign.Traffic
	sharing      bool // clients share a connection
	uncontrolled int  // scenarios that were not completely controlled
	ended        bool // because clients ended by themselves too often
	// disagreement is the first difference between a real broker and the simulated one.
	disagreement string
}

// breach is how an execution, with its number from 0, broke a promise.
type breach struct {
	Execution int
	Detail    string
}

// run makes workers run the scenarios [from, to) until enough was found or the time is over. If shrink is set, violating
// executions are then minimised.
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
	for _, err := range f.errs { // one is enough: the others are usually the same
		if err != nil {
			return err
		}
	}
	return nil
}

// announce adds properties that the clients' declarations require, if all applicable properties are judged. The second call
// changes nothing.
func (f *sharedRun) announce() {
	for _, set := range []*property.Set{&f.Properties, &f.Until} {
		if more := (*set|f.On.meaningless()).Announced(f.Kind, f.about.Traits()) &^ *set; more != 0 {
			*set |= more
		}
	}
}

// measured adds a worker's counts; the rest of its results is already in the sum.
func (f *sharedRun) measured(w *worker) {
	f.sum.Merge(&w.part)
	f.agreed += w.runner.Agreed()
	said := w.runner.Unheld()
	f.held, f.unheld = f.held || said == "", said
}

// unexpected reports whether an operation seems too expensive that was not seen with certainty to be so before.
func (f *sharedRun) unexpected(found property.Set) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return found&foreign.Measured&^f.confirmed != 0
}

// expect records what was seen with certainty.
func (f *sharedRun) expect(found property.Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.confirmed |= found & foreign.Measured
}

// unasked are the promises that the contract does not demand.
func (f *sharedRun) unasked() property.Set { return property.Promises &^ f.Demands }

// wanted are the properties whose violations are minimised: those that end the run, or all that are judged.
func (f *sharedRun) wanted() property.Set {
	if f.Until != 0 {
		return f.Until &^ f.unasked()
	}
	return f.Properties
}

// take adds the result of an execution.
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

// The number of clients that may end by themselves before a run ends: if that happens in nearly all executions, and in any
// case. Further executions would show the same.
const (
	someCrashes = 10
	maxCrashes  = 100
)

// Ended reports whether clients ended by themselves so often that the run ends or has ended. Executions that are under way
// then are completed, and may lower the share of such ends.
func (t *totals) Ended() bool {
	died := t.free.Died
	return t.ended || died >= maxCrashes || died >= someCrashes && 10*died >= 9*t.sum.Scenarios
}

// addTo adds an execution of external clients.
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
