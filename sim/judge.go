package sim

import (
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Judge completes the verdict on the current execution: the monitor's violations, and linearizability from the
// history if the execution has no witness. undecided is the reason why the history could not be decided (too large,
// or invalid).
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

// conclude adds the verdicts that only the whole history shows, if the specification applies to it.
func (r *Runner) conclude(failedAcquire property.FailedAcquire, whole func() *history.History, give func(linear.Verdict)) {
	if r.historyTells() {
		judge.Execution(&r.Monitor, linear.Options{FailedAcquire: failedAcquire}, whole, give)
	}
}

// historyTells reports whether the sequential specification applies to an execution. The specification has the same
// limit for all callers, and no priorities.
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

// Violating returns the actions of a trace up to the moment at which the monitor saw property p violated, and whether
// it did.
func Violating(t *scenario.Trace, p property.Property) ([]scenario.Action, bool) {
	v, violated := t.Violation(p)
	if !violated {
		return nil, false
	}
	return actions(t.Steps[:min(v.Step+1, len(t.Steps))]), true
}
