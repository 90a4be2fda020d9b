package gated

import (
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// A violation is a suspicion at first: clients that are used for one execution after the other may carry something
// from one into the next. It counts once fresh clients have carried out the same execution and violate the same.

const (
	// reproductions bounds how often fresh clients are asked to show a violation again: one that depends on what
	// no schedule decides may need more than one try.
	reproductions = 5
	// recordings bounds how many executions fresh clients are asked for that violate a property of which none was
	// reproduced, unless fresh clients have shown it to begin with.
	recordings = 3
	// renewals bounds how many executions of a run have fresh clients, which take many times as long. They get them
	// after clients were seen to carry something from one execution into the next.
	renewals = 100
)

// finding is what is known of a property that was seen violated.
type finding struct {
	scenario int // the execution that showed it, counted from 1
	// trace is how fresh clients have carried it out, or as it was recorded where they did not show it.
	trace *scenario.Trace
	tries histories.Tries
}

// recorded is a finding that fresh clients were asked for so often in vain.
func recorded(scenario int, t *scenario.Trace, tries int) *finding {
	return &finding{scenario, t, histories.Tries{Of: tries}}
}

// reproduced is a finding that fresh clients have shown at that try.
func reproduced(scenario int, t *scenario.Trace, try int) *finding {
	return &finding{scenario, t, histories.Tries{Shown: 1, Of: try}}
}

func (d *finding) suspected() bool { return d.tries.Shown == 0 }

// betters reports whether a finding is to be kept instead of another: what was reproduced instead of what was not;
// else what came first, and is the smallest of that.
func (d *finding) betters(other *finding) bool {
	switch {
	case other == nil || d.suspected() != other.suspected():
		return other == nil || !d.suspected()
	case d.scenario != other.scenario:
		return d.scenario < other.scenario
	case d.suspected():
		return d.tries.Of > other.tries.Of
	}
	return d.trace.Scheduled() <= other.trace.Scheduled()
}

// found is the finding as the report tells of it.
func (d *finding) found(p property.Property) *report.Found {
	out := engine.FoundIn(d.trace, p)
	out.Scenario, out.Suspected, out.Tries = d.scenario, d.suspected(), d.tries
	return out
}

// record takes in what the i-th execution violates, as it was recorded. It returns the properties that fresh clients are to
// show again: those that no earlier execution has reproduced. fresh says that its clients were.
func (f *sharedRun) record(i int, x *foreign.Execution, fresh bool) (open property.Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range x.Found.BySeverity() {
		d, last := recorded(i+1, x.Trace, 0), f.findings[p]
		f.later.note(f.known, p, d)
		switch {
		case last == nil:
		case last.suspected() && f.asked[p] >= recordings && !fresh, !last.suspected() && last.scenario < d.scenario:
			continue
		}
		f.asked[p]++
		open = open.With(p)
		f.keepLocked(p, d)
	}
	return open
}

// keep takes in a finding, if it is better than the one that there is, and tells of it.
func (f *sharedRun) keep(p property.Property, d *finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keepLocked(p, d)
}

// keepLocked is keep for who holds mu.
func (f *sharedRun) keepLocked(p property.Property, d *finding) {
	if !d.betters(f.findings[p]) {
		return
	}
	f.findings[p] = d
	if f.Found != nil {
		f.Found(f.labels.Counterexample(p, d.trace, d.found(p)))
	}
	if (f.Until &^ f.known).Has(p) && !d.suspected() {
		f.stop.Store(true)
	}
}

// shrinkable are the properties whose executions are made smaller: what was reproduced. mu is held.
func (f *sharedRun) shrinkable() (set property.Set) {
	for p, d := range f.findings {
		if p := property.Property(p); d != nil && !d.suspected() && f.wanted().Has(p) {
			set = set.With(p)
		}
	}
	return set
}

// foundAny reports whether there is something to make smaller.
func (f *sharedRun) foundAny() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shrinkable() != 0
}

// noteRepeated notes whether fresh clients did not show what others did.
func (f *sharedRun) noteRepeated(failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unreproduced = f.unreproduced || failed
}

// renews reports whether the next execution is to have fresh clients.
func (f *sharedRun) renews() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.unreproduced || f.renewed == renewals {
		return false
	}
	f.renewed++
	return true
}
