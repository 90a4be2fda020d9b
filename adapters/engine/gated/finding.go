package gated

import (
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// A violation is a suspicion at first, because clients that run several executions may carry state from one into the
// next. It counts as a violation when fresh clients have run the same execution and violated the same property.

const (
	// reproductions is the maximum number of attempts of fresh clients to reproduce a violation. One attempt may fail
	// if the violation depends on timing that no schedule controls.
	reproductions = 5
	// recordings is the maximum number of violating executions per property that fresh clients try to reproduce while
	// none has been reproduced. An execution that was recorded with fresh clients is always tried.
	recordings = 3
	// renewals is the maximum number of executions of a run that start with fresh clients, which takes many times as
	// long. A run does so after it has seen that clients carry state from one execution into the next.
	renewals = 100
)

// finding is a violation of a property, with its execution.
type finding struct {
	scenario int // number of the execution that first showed the violation, from 1
	// trace is the execution of fresh clients. If they did not reproduce the violation, it is the recorded execution.
	trace *scenario.Trace
	tries histories.Tries
}

// recorded returns a finding that fresh clients did not reproduce in the given number of tries.
func recorded(scenario int, t *scenario.Trace, tries int) *finding {
	return &finding{scenario, t, histories.Tries{Of: tries}}
}

// reproduced returns a finding that fresh clients reproduced at the given try.
func reproduced(scenario int, t *scenario.Trace, try int) *finding {
	return &finding{scenario, t, histories.Tries{Shown: 1, Of: try}}
}

func (d *finding) suspected() bool { return d.tries.Shown == 0 }

// betters reports whether finding d is better than other. A reproduced finding is better than a suspicion, then an
// earlier one is better than a later one, then a smaller one is better.
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

// found returns the finding for a report.
func (d *finding) found(p property.Property) *report.Found {
	out := engine.FoundIn(d.trace, p)
	out.Scenario, out.Suspected, out.Tries = d.scenario, d.suspected(), d.tries
	return out
}

// record adds the violations of the i-th execution as suspicions. It returns the properties that fresh clients must now
// reproduce: those that no earlier execution has reproduced. fresh says that the execution itself had fresh clients.
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

// keep stores a finding if it is better than the present one, and reports it.
func (f *sharedRun) keep(p property.Property, d *finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keepLocked(p, d)
}

// keepLocked is keep with mu held.
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

// shrinkable returns the properties whose executions are to be minimised: those with a reproduced violation. mu is
// held.
func (f *sharedRun) shrinkable() (set property.Set) {
	for p, d := range f.findings {
		if p := property.Property(p); d != nil && !d.suspected() && f.wanted().Has(p) {
			set = set.With(p)
		}
	}
	return set
}

// foundAny reports whether there is an execution to minimise.
func (f *sharedRun) foundAny() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shrinkable() != 0
}

// noteRepeated records whether fresh clients failed to reproduce a violation of other clients.
func (f *sharedRun) noteRepeated(failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unreproduced = f.unreproduced || failed
}

// renews reports whether the next execution has fresh clients.
func (f *sharedRun) renews() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.unreproduced || f.renewed == renewals {
		return false
	}
	f.renewed++
	return true
}
