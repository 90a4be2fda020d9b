package sample

import (
	"context"
	"iter"
	"slices"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/shrink"
)

// mostComparedSamples is the maximum number of executions per violated property that are minimised to compare them with
// the known violations.
const mostComparedSamples = 10

// minimise returns a violating execution for each violated property. It minimises them, the most severe property first.
// Executions of properties that Until leaves out are not minimised.
func (s *sampling) minimise(violated property.Set) map[property.Property]*scenario.Trace {
	traces := make(map[property.Property]*scenario.Trace)
	queue := violated.BySeverity()
	for k, p := range queue {
		first := s.firstSeen(p)
		if _, shown := first.Violation(p); !shown {
			s.Own.Contradicted(p)
		}
		traces[p] = first
		if s.Until == 0 || s.Until.Has(p) {
			time, cancel := s.allowed.Portion(len(queue)-k, 1)
			traces[p] = s.least(time, first, p)
			cancel()
		}
		s.told(p, traces[p])
	}
	return traces
}

// least returns the smallest execution found that violates p. It minimises the first violating execution. If that shows
// a known violation, it minimises later ones until one shows an unknown violation.
func (s *sampling) least(ctx context.Context, first *scenario.Trace, p property.Property) *scenario.Trace {
	least := s.shortest(ctx, first, p)
	if !s.labels.Knows(s.Known, p, least) {
		return least
	}
	s.compared[p] = 1
	for i, later := range s.later(p) {
		if s.compared[p] == mostComparedSamples || ctx.Err() != nil {
			break
		}
		s.compared[p]++
		if other := s.shortest(ctx, later, p); !s.labels.Knows(s.Known, p, other) {
			s.sum.First[p] = i
			return other
		}
	}
	return least
}

// later yields the executions after the first one that violate p as well. Each comes with its number, counted from 1.
func (s *sampling) later(p property.Property) iter.Seq2[int, *scenario.Trace] {
	return func(yield func(int, *scenario.Trace) bool) {
		r := sim.NewRunner(s.Own)
		for i := s.sum.First[p]; i < s.from+s.sum.Scenarios; i++ {
			sc := s.source.Scenario(i)
			r.Run(s.Target, &sc)
			if found, _ := r.Judge(s.FailedAcquire); found.Has(p) && !yield(i+1, r.Trace(s.Target, &sc, s.FailedAcquire)) {
				return
			}
		}
	}
}

// firstSeen repeats the first execution that violates p.
func (s *sampling) firstSeen(p property.Property) *scenario.Trace {
	r := sim.NewRunner(s.Own)
	sc := s.source.Scenario(s.sum.First[p] - 1)
	return r.Trace(s.Target, &sc, s.FailedAcquire)
}

// within reports whether scenario s keeps the numbers of slots, clients and administrators of scenario from, if the
// configuration fixes them. A custom property may apply to these numbers only.
func (c *Config) within(s, from *scenario.Scenario) bool {
	same := func(a, b scenario.Lock) bool { return a == b }
	return (c.Shape.Slots == nil || slices.EqualFunc(s.Locks, from.Locks, same)) &&
		(c.Shape.Clients == nil && c.Shape.Admins == nil || len(s.Clients) == len(from.Clients))
}

// told passes a violation to the callback Found.
func (s *sampling) told(p property.Property, t *scenario.Trace) {
	if s.Found != nil {
		s.Found(s.labels.Counterexample(p, t, &report.Found{Scenario: s.sum.First[p]}))
	}
}

// shortest minimises an execution that violates p.
func (c *Config) shortest(ctx context.Context, first *scenario.Trace, p property.Property) *scenario.Trace {
	r := sim.NewRunner(c.Own)
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
		if p.Own() && !c.within(s, &first.Scenario) {
			return nil, false
		}
		return sim.Violating(r.Trace(c.Target, s, c.FailedAcquire), p)
	}
	free := func(option string) bool {
		return !slices.ContainsFunc(c.Options, func(f [2]string) bool { return f[0] == option })
	}
	least := shrink.Minimise(ctx, sim.Replay(first), attempt, free, engine.MinimisingTries)
	return r.Trace(c.Target, &least, c.FailedAcquire)
}
