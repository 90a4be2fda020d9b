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

// Trace runs a scenario and records every step. The violations include those that only the whole history shows. They
// exclude properties that do not apply to the target.
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
	// Texts about the history name steps, whose numbers only t.History has.
	whole := func() *history.History { return &t.History }
	r.conclude(failedAcquire, whole, func(v linear.Verdict) {
		if v.Decision == linear.Illegal {
			t.Violations = append(t.Violations, judge.Violation(t, v))
		}
	})
	judged := property.Of(target)
	t.Violations = slices.DeleteFunc(t.Violations, func(v scenario.Violation) bool { return !v.Property.Own() && !judged.Has(v.Property) })
	return t
}

// kept returns a copy of a slice that the next run overwrites. The copy is never nil.
func kept[T any](s []T) []T { return append([]T(nil), s...) }

// Replay returns a scenario whose schedule is the actions of trace t. It has no random choices and no planned faults.
func Replay(t *scenario.Trace) scenario.Scenario {
	s := t.Scenario.Clone()
	s.Faults, s.Deeper = nil, 0
	for _, c := range s.Clients {
		for i := range c.Ops {
			switch op := &c.Ops[i]; op.Op {
			case lock.Destroy, lock.Count: // drop the argument, which means nothing for a persistent mutex
				op.Arg = 0
			}
		}
	}
	s.Schedule = scenario.Schedule{Strategy: scenario.Replay, Before: s.Schedule.Before}
	s.Schedule.Actions = actions(t.Steps)
	return s
}

// actions returns the actions of the steps, without audits, which a replay adds itself.
func actions(steps []scenario.TraceStep) (all []scenario.Action) {
	for i := range steps {
		if a := steps[i].Action; a.Kind != scenario.Audit {
			all = append(all, a)
		}
	}
	return all
}
