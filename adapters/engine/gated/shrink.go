package gated

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/shrink"
)

// Bounds on the number of scenarios that are tried to minimise one counterexample. In the first phase, the same clients
// run one scenario after the other: at most sameTries. In the second phase, each scenario has fresh clients, which is
// much slower: at most freshTries. If several counterexamples are minimised, together they get a fifth of all
// executions, but each gets at least leastTries. The bounds are numbers, not times, so that a seed always has the same
// result.
const (
	sameTries  = 400
	freshTries = 100
	leastTries = 150
)

// triesFor returns the number of scenarios to try for each counterexample. It depends on the numbers of executions and
// of counterexamples.
func triesFor(executions, counterexamples int) int {
	return min(sameTries, max(leastTries, executions/4/counterexamples))
}

// shrink minimises the reproduced violations in parallel, the most severe first.
func (f *sharedRun) shrink(ctx context.Context, workers []*worker) error {
	queue, errs := f.shrinkable().BySeverity(), make([]error, len(workers))
	var wg sync.WaitGroup
	var next atomic.Int64
	for i, w := range workers {
		wg.Go(func() {
			for k := int(next.Add(1) - 1); k < len(queue); k = int(next.Add(1) - 1) {
				time, cancel := f.allowed.Portion(len(queue)-k, len(workers))
				s := shrinking{worker: w, ctx: ctx, time: time, property: queue[k], most: triesFor(f.sum.Scenarios, len(queue))}
				errs[i] = errors.Join(errs[i], quietly(ctx, s.run()), quietly(ctx, s.another()))
				cancel()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// shrinking is the minimisation of one counterexample.
type shrinking struct {
	*worker
	ctx, time context.Context // end of time: minimising stops after the current execution; end of ctx: at once
	property  property.Property
	most      int // maximum number of scenarios to try

	renewed bool // each execution starts with fresh clients
	shown   bool // some execution has violated the property
	trouble error
}

// run minimises a counterexample. First the same clients run one scenario after the other, which is fast. State that
// clients carry along may then make the result smaller than fresh clients can show. If so, run minimises again with
// fresh clients for each scenario.
func (s *shrinking) run() error {
	for _, s.renewed = range []bool{false, true} {
		least := s.least()
		if s.shown && s.trouble == nil && s.confirmed(&least) {
			return nil
		}
		if s.trouble != nil || s.time.Err() != nil {
			break
		}
	}
	return s.trouble
}

// least returns the smallest scenario found that violates the property. It is meaningless unless shown is set.
func (s *shrinking) least() scenario.Scenario {
	defer s.runner.Bound(0)
	tries := s.most
	if s.renewed {
		tries = freshTries
	}
	s.shown = false
	return shrink.Minimise(s.time, sim.Replay(s.findings[s.property].trace), s.attempt, func(string) bool { return false }, tries)
}

// attempt tries a scenario; see [shrink.Attempt]. It tries the initial scenario several times.
func (s *shrinking) attempt(sc *scenario.Scenario) ([]scenario.Action, bool) {
	tries := 1
	if !s.shown {
		tries = reproductions
	}
	for range tries {
		if s.trouble != nil || s.time.Err() != nil {
			return nil, false
		}
		x := s.try(sc)
		if s.trouble != nil {
			return nil, false
		}
		if actions, shown := sim.Violating(x.Trace, s.property); shown {
			s.shown = true
			if len(actions) == len(sc.Schedule.Actions) { // a longer execution need not be completed: it is not smaller
				s.runner.Bound(len(actions))
			}
			return actions, true
		}
	}
	return nil, false
}

// try runs a scenario.
func (s *shrinking) try(sc *scenario.Scenario) (x *foreign.Execution) {
	s.trying()
	if s.renewed {
		if s.trouble = s.runner.Renew(s.ctx); s.trouble != nil {
			return nil
		}
	}
	if s.runner.Measure(0); foreign.Measured.Has(s.property) {
		s.runner.Measure(foreign.Settle)
	}
	x, s.trouble = s.runner.Run(s.ctx, sc)
	return x
}

// confirmed reports whether fresh clients show the violation in sc. If so, it stores their execution as the finding.
func (s *shrinking) confirmed(sc *scenario.Scenario) (shown bool) {
	first := s.findings[s.property].scenario
	_, s.trouble = s.reproduce(s.ctx, s.time, sc, property.Set(0).With(s.property), func(p property.Property, t *scenario.Trace, try int) {
		shown = true
		s.keep(p, reproduced(first, t, try))
	})
	return shown
}

// trying reports that one more scenario is tried to minimise a counterexample.
func (f *sharedRun) trying() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
	if f.Progress != nil {
		p := f.sum.Progress(f.Scenarios)
		p.Tries = f.tries
		f.Progress(p)
	}
}

// quietly returns err, or nil if err is only a consequence of the end of the run.
func quietly(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, foreign.ErrLeft) {
		return nil
	}
	return err
}
