package gated

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/tally"
	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// sharedRun is a run over the scenarios of one seed, shared by its workers.
type sharedRun struct {
	Config
	labels  engine.Labels
	source  *sim.Source
	allowed engine.Allowance

	learnt *external.Learnt // by all workers
	crew
	next         int   // the scenario to play next
	to           int   // it ends before this one
	putOff       []int // scenarios that are played later
	stop         atomic.Bool
	mu           sync.Mutex
	asked        [property.Most]int // executions that fresh clients were asked to reproduce
	unreproduced bool               // they did not reproduce one
	renewed      int                // executions that had fresh clients because of that
	exploring    bool               // every order of commands is visited; no fault happens, and no cost is measured
	tries        int
	spent        external.Spent // of all workers
	confirmed    property.Set   // of those that are measured: what was seen violated for certain
	totals
}

// totals is what scenarios came to.
type totals struct {
	sum          tally.Tally
	findings     [property.Most]*finding
	about        external.About
	design       string                       // what locks are held by
	fromHistory  property.Set                 // what the history alone decides
	unjudged     map[property.Property]string // why not
	lenient      property.Set                 // what may be exceeded without being wrong
	exceeded     map[property.Property]excess // how it first was
	free         external.Uncontrolled
	wire         wire.Counts
	agreed       int // replies on which a real broker and the simulated one agreed
	traffic      external.Traffic
	sharing      bool // clients share a connection
	uncontrolled int  // scenarios that were not controlled altogether
	kept         int  // executions in which an exclusive queue stayed behind its channel
	ended        bool // since clients ended by themselves too often
	// disagreement is how a real broker first did something else than the simulated one.
	disagreement string
}

// excess is what an execution, counted from 0, cost more than the guidelines allow.
type excess struct {
	Execution int
	Detail    string
}

// run has workers play until all scenarios from one number up to another are done, enough was found, or the time for
// that is over; then executions that violate something are made smaller, if that is wanted.
func (f *sharedRun) run(ctx context.Context, from, to int, shrink bool) error {
	f.next, f.to, f.learnt = from, to, external.NewLearnt()
	want := to - from
	if shrink {
		want = max(want, len(f.shrinkable().BySeverity()))
	}
	want = min(f.Workers, want)
	f.places = make(chan struct{}, want+f.More)
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
		if more := set.Announced(f.Kind, f.about.Traits()) &^ *set; more != 0 {
			*set |= more
		}
	}
}

// measured takes in what a worker has counted: all else of its executions is in the sum already.
func (f *sharedRun) measured(w *worker) {
	f.sum.Merge(&w.part)
	f.agreed += w.runner.Agreed()
}

// unexpected reports whether something seems to cost too much that was not seen for certain to do so before.
func (f *sharedRun) unexpected(found property.Set) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return found&external.Measured&^f.confirmed != 0
}

// expect notes what was seen for certain.
func (f *sharedRun) expect(found property.Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.confirmed |= found & external.Measured
}

// wanted are the properties whose violations are made smaller: those that end the run, or all that are judged.
func (f *sharedRun) wanted() property.Set {
	if f.Until != 0 {
		return f.Until
	}
	return f.Properties
}

// take adds an execution to what was found.
func (f *sharedRun) take(i int, x *external.Execution) {
	f.mu.Lock()
	defer f.mu.Unlock()
	addTo(&f.sum, i, x)
	f.free.Add(x.Uncontrolled)
	f.wire.Add(&x.Wire)
	if f.traffic == nil {
		f.traffic = make(external.Traffic)
	}
	f.traffic.Merge(x.Traffic)
	f.disagreement = cmp.Or(f.disagreement, x.Disagreement)
	if x.Kept {
		f.kept++
	}
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

// Ended reports whether clients ended by themselves so often that a run ends there, or has. What was under way then is brought to its
// end, and may be fewer of them.
func (t *totals) Ended() bool {
	died := t.free.Died
	return t.ended || died >= maxCrashes || died >= someCrashes && 10*died >= 9*t.sum.Scenarios
}

// addTo takes in an execution of somebody else's clients.
func addTo(s *tally.Tally, i int, x *external.Execution) {
	s.Scenarios++
	s.Steps += len(x.Steps)
	s.Commands += x.Sent
	s.Operations += x.Called
	if x.Undecided != "" {
		s.Unclear(i, x.Undecided)
	}
	s.Note(i, x.Exercised, x.Found, sim.Covered(x.Trace))
	s.Stale(x.Overlap, x.Overlap, x.Overlaps)
}
