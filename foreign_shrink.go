package lockproof

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// foreignTries bounds how many scenarios are tried to make one counterexample smaller.
const foreignTries = 400

// shortest are the smallest executions found that violate a property, each by one of the stages.
func (f *foreignRun) shortest(ctx context.Context, stages []*foreign.Stage, first firstSeen) (map[spec.Property]*scenario.Trace, []error) {
	traces, errs := make(map[spec.Property]*scenario.Trace), make([]error, len(stages))
	var wg sync.WaitGroup
	var next atomic.Int64
	for w, stage := range stages {
		wg.Go(func() {
			for p := spec.Property(next.Add(1) - 1); p < spec.PropertyCount; p = spec.Property(next.Add(1) - 1) {
				if f.sum.first[p] == 0 || f.Until != 0 && !f.Until.Has(p) || ctx.Err() != nil {
					continue
				}
				t, err := f.minimise(ctx, stage, p, first)
				errs[w] = errors.Join(errs[w], err)
				f.mu.Lock()
				if t != nil {
					traces[p] = t
				}
				f.mu.Unlock()
			}
		})
	}
	wg.Wait()
	return traces, errs
}

// minimise makes the first execution that violates a property smaller.
func (f *foreignRun) minimise(ctx context.Context, stage *foreign.Stage, p spec.Property, first firstSeen) (*scenario.Trace, error) {
	x, err := first(ctx, stage, p)
	if err != nil || ctx.Err() != nil {
		return nil, quietly(ctx, err)
	}
	stage.Measure(0)
	if foreign.Measured.Has(p) {
		stage.Measure(foreign.Look)
	}
	var trouble error
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
		if trouble != nil || ctx.Err() != nil {
			return nil, false
		}
		f.trying()
		x, err := stage.Run(ctx, s)
		if trouble = err; err != nil {
			return nil, false
		}
		actions, shown := sim.Violating(x.Trace, p)
		if shown {
			stage.Bound(len(actions)) // what takes longer is not smaller
		}
		return actions, shown
	}
	least := histories.Minimise(sim.Replay(x.Trace), attempt, func(string) bool { return false }, foreignTries)
	stage.Bound(0)
	if trouble != nil || ctx.Err() != nil {
		return x.Trace, quietly(ctx, trouble)
	}
	if foreign.Measured.Has(p) {
		stage.Measure(foreign.Stare)
	}
	for range showings { // clients that do things by themselves may need more than one
		y, err := stage.Run(ctx, &least)
		if err != nil {
			return nil, quietly(ctx, err)
		}
		if y.Found.Has(p) {
			return y.Trace, nil
		}
	}
	if x.Found.Has(p) {
		return x.Trace, nil
	}
	return nil, nil
}

// trying tells of one more scenario that is tried to make a counterexample smaller.
func (f *foreignRun) trying() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
	if f.Progress != nil {
		p := f.sum.progress(f.Scenarios)
		p.Tries = f.tries
		f.Progress(p)
	}
}

// showings is how often an execution is tried again that violated a property once.
const showings = 5

// quietly is an error that is not the doing of whoever ended the run.
func quietly(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
