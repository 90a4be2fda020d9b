package sim

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Judge returns all violated properties of the current execution. It adds to the monitor's violations those that only
// the history shows: it checks linearizability on the history if the monitor has no linearization. undecided says why
// the history could not be decided (too large, or invalid), or is "".
func (r *Runner) Judge(failedAcquire property.FailedAcquire) (found property.Set, undecided string) {
	found = r.Monitor.Found
	whole := func() *history.History { h := r.History(); return &h }
	r.conclude(failedAcquire, whole, func(v linear.Verdict) {
		switch v.Decision {
		case linear.Illegal:
			found = found.With(v.Property)
		case linear.Undecided:
			undecided = v.Why
		}
	})
	return found, undecided
}

// conclude adds the verdicts that need the whole history, if the sequential specification applies to the execution.
func (r *Runner) conclude(failedAcquire property.FailedAcquire, whole func() *history.History, give func(linear.Verdict)) {
	if r.historyTells() {
		judge.Execution(&r.Monitor, linear.Options{FailedAcquire: failedAcquire}, whole, give)
	}
}

// historyTells reports whether the sequential specification applies to the execution. It does not if callers state
// different limits, or priorities.
func (w *World) historyTells() bool {
	traits := w.target.Traits
	for _, c := range w.scenario.Clients {
		for _, o := range c.Ops {
			if o.Op == lock.Acquire && traits.Has(lock.Limits) && o.Arg != w.scenario.Locks[c.Lock].Slots {
				return false
			}
		}
	}
	return w.scenario.HistoryTells() && !traits.Has(lock.Priorities)
}

// Violating returns the actions of a trace up to the step in which the monitor found property p violated, and whether
// there is such a step.
func Violating(t *scenario.Trace, p property.Property) ([]scenario.Action, bool) {
	v, violated := t.Violation(p)
	if !violated {
		return nil, false
	}
	return actions(t.Steps[:min(v.Step+1, len(t.Steps))]), true
}
