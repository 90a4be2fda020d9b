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

// sharedRun is a run over the scenarios of one seed. Its workers share it.
type sharedRun struct {
	Config
	labels  engine.Labels
	source  *sim.Source
	allowed engine.Allowance

	pool
	next         int // number of the next scenario
	to           int // the run ends before this scenario
	stop         atomic.Bool
	mu           sync.Mutex
	asked        [property.Most]int // number of executions that fresh clients tried to reproduce, by property
	known        property.Set       // properties for which the user knows a violation
	later        later
	compared     [property.Most]int // number of each property's executions that were compared with known violations
	unreproduced bool               // fresh clients failed to reproduce some violation
	renewed      int                // number of executions that had fresh clients because unreproduced is set
	exploring    bool               // the run explores every order of commands, without restarts and without costs
	tries        int
	spent        foreign.Spent // time spent by all workers
	confirmed    property.Set  // properties of cost with a violation that was measured with certainty
	held         bool          // a client was seen to hold the lock as Holding declares, or nothing is declared
	unheld       string        // text for the report if no worker saw a holder
	totals
}

// totals is the summed result of the scenarios that have run.
type totals struct {
	sum          tally.Tally
	findings     [property.Most]*finding
	about        foreign.About
	broken       map[property.Property]breach // the first breach of each promise that the contract does not demand
	free         foreign.Uncontrolled
	told         foreign.Told
	wire         gate.Counts
	agreed       int // number of replies that were the same on a real broker and on the simulated one
	traffic      foreign.Traffic
	sharing      bool // clients share one connection
	uncontrolled int  // number of executions that the schedule did not control completely
	ended        bool // the run stopped because clients ended by themselves too often
	// disagreement describes the first reply that differed between a real broker and the simulated one; "" if none did.
	disagreement string
}

// breach says which execution broke a promise, counted from 0, and how.
type breach struct {
	Execution int
	Detail    string
}

// run lets workers run the scenarios [from, to) until all are done, a violation ends the run, or the time is over. If
// shrink is set, violating executions are then minimised.
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
	for _, err := range f.errs { // the other errors usually have the same cause
		if err != nil {
			return err
		}
	}
	return nil
}

// announce adds the properties that the clients' declarations require, if all applicable properties are judged. Calling
// it again changes nothing.
func (f *sharedRun) announce() {
	for _, set := range []*property.Set{&f.Properties, &f.Until} {
		if more := (*set|f.On.meaningless()).Announced(f.Kind, f.about.Traits()) &^ *set; more != 0 {
			*set |= more
		}
	}
}

// measured adds what a worker has counted: the costs of operations, and the number of checks of each property. The
// worker's other results are already in the sum.
func (f *sharedRun) measured(w *worker) {
	f.sum.Merge(&w.part)
	f.agreed += w.runner.Agreed()
	said := w.runner.Unheld()
	f.held, f.unheld = f.held || said == "", said
}

// unexpected reports whether an operation seems too expensive, and this was not confirmed before.
func (f *sharedRun) unexpected(found property.Set) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return found&foreign.Measured&^f.confirmed != 0
}

// expect records the excessive costs in found as confirmed, so that unexpected ignores them from now on.
func (f *sharedRun) expect(found property.Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.confirmed |= found & foreign.Measured
}

// unasked returns the promises that the contract does not demand.
func (f *sharedRun) unasked() property.Set { return property.Promises &^ f.Demands }

// wanted returns the properties whose violations are minimised. If violations of some properties end the run, these are
// the properties; otherwise all judged properties are.
func (f *sharedRun) wanted() property.Set {
	if f.Until != 0 {
		return f.Until &^ f.unasked()
	}
	return f.Properties
}

// take adds the result of execution i.
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

// A run stops if clients ended by themselves someCrashes times and in 90 % of the executions, or maxCrashes times in
// any case. Further executions would show the same.
const (
	someCrashes = 10
	maxCrashes  = 100
)

// Ended reports whether the run stops because clients ended by themselves too often. Once stopped it stays stopped,
// although executions that complete later may lower the share.
func (t *totals) Ended() bool {
	died := t.free.Died
	return t.ended || died >= maxCrashes || died >= someCrashes && 10*died >= 9*t.sum.Scenarios
}

// addTo adds the result of execution i of external clients to a tally.
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
