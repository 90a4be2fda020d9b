package sim

import (
	"slices"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// Trace carries out a scenario and keeps every step. The trace's violations include those that only the whole history
// shows, and exclude properties that are not applicable to the target.
func (r *Runner) Trace(target *lock.Target, s *scenario.Scenario, failedAcquire property.FailedAcquire) *scenario.Trace {
	r.record.tracing = true
	defer func() { r.record.tracing = false }()
	r.Run(target, s)
	t := &scenario.Trace{
		Scenario: *s, Setup: kept(r.record.Setup), Steps: kept(r.record.Steps),
		History: r.History(), Violations: kept(r.record.Violations),
	}
	t.History.Events = kept(t.History.Events)
	t.Scenario.Options = r.options
	t.Number()
	whole := func() *history.History { return &t.History } // its events are numbered by steps
	r.conclude(failedAcquire, whole, func(v linear.Verdict) {
		if v.Decision == linear.Illegal {
			t.Violations = append(t.Violations, judge.Violation(t, v))
		}
	})
	judged := property.Of(target)
	t.Violations = slices.DeleteFunc(t.Violations, func(v scenario.Violation) bool { return !v.Property.Own() && !judged.Has(v.Property) })
	return t
}

// kept copies a slice that the next run overwrites; the copy is never nil.
func kept[T any](s []T) []T { return append([]T(nil), s...) }

// Replay makes a scenario whose schedule is the actions of a trace, without choices and without a fault plan.
func Replay(t *scenario.Trace) scenario.Scenario {
	s := t.Scenario.Clone()
	s.Faults, s.Deeper = nil, 0
	for _, c := range s.Clients {
		for i := range c.Ops {
			switch op := &c.Ops[i]; op.Op {
			case lock.Destroy, lock.Count: // drawn for a persistent mutex, it has an argument without meaning
				op.Arg = 0
			}
		}
	}
	s.Schedule = scenario.Schedule{Strategy: scenario.Replay, Before: s.Schedule.Before}
	s.Schedule.Actions = actions(t.Steps)
	return s
}

// actions are the actions of the steps, except audits, which the world adds itself.
func actions(steps []scenario.TraceStep) (all []scenario.Action) {
	for i := range steps {
		if a := steps[i].Action; a.Kind != scenario.Audit {
			all = append(all, a)
		}
	}
	return all
}
