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

// How many scenarios are tried to make one counterexample smaller: with the same clients for one after the other,
// and with fresh ones for each, which takes many times as long. If several are made smaller, all of them get a fifth of the
// executions of the run, those included, but none fewer than leastTries. The bound is a count and not a time, so that one
// seed has one result.
const (
	sameTries  = 400
	freshTries = 100
	leastTries = 150
)

// triesFor is how many scenarios are tried for each counterexample, by the number of executions and of counterexamples.
func triesFor(executions, counterexamples int) int {
	return min(sameTries, max(leastTries, executions/4/counterexamples))
}

// shrink makes smaller what was reproduced, the gravest first, each by one of the workers.
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

// shrinking is one counterexample that is made smaller.
type shrinking struct {
	*worker
	ctx, time context.Context // time ends it between two executions, ctx in their midst
	property  property.Property
	most      int // scenarios that are tried

	renewed bool // each execution has fresh clients
	shown   bool // one has violated the property
	trouble error
}

// run tries with the same clients for one scenario after the other, which is fast. The state that clients carry from one to
// the next may make a result smaller than fresh clients can show. Then run minimises again, with fresh clients for each
// scenario.
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

// least is the smallest scenario that was seen to violate the property, if one was.
func (s *shrinking) least() scenario.Scenario {
	defer s.runner.Bound(0)
	tries := s.most
	if s.renewed {
		tries = freshTries
	}
	s.shown = false
	return shrink.Minimise(s.time, sim.Replay(s.findings[s.property].trace), s.attempt, func(string) bool { return false }, tries)
}

// attempt is a [histories.Attempt]. The scenario to begin with is tried several times.
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
			if len(actions) == len(sc.Schedule.Actions) { // what takes longer is not smaller
				s.runner.Bound(len(actions))
			}
			return actions, true
		}
	}
	return nil, false
}

// try carries out a scenario.
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

// confirmed reports whether fresh clients have shown it, and keeps it then.
func (s *shrinking) confirmed(sc *scenario.Scenario) (shown bool) {
	first := s.findings[s.property].scenario
	_, s.trouble = s.reproduce(s.ctx, s.time, sc, property.Set(0).With(s.property), func(p property.Property, t *scenario.Trace, try int) {
		shown = true
		s.keep(p, reproduced(first, t, try))
	})
	return shown
}

// trying tells of one more scenario that is tried to make a counterexample smaller.
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

// quietly is an error unless it follows from the end of the run, and leaves nothing behind.
func quietly(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, foreign.ErrLeft) {
		return nil
	}
	return err
}
