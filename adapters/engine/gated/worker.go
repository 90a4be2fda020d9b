package gated

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/adapters/engine/tally"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// worker runs executions of a run one after the other, with clients of its own.
type worker struct {
	*sharedRun
	runner *foreign.Runner
	part   tally.Tally // costs of operations, and numbers of checks, in the worker's executions
	fresh  bool        // the worker's clients have not run any execution yet
	quick  bool        // the worker's clients started quickly
	pace   pace        // the worker's executions since the last decision about an extra worker
}

// startWorker starts a worker's clients.
func (f *sharedRun) startWorker(ctx context.Context) (*worker, error) {
	w := &worker{sharedRun: f, fresh: true}
	began := time.Now()
	runner, err := foreign.NewRunner(ctx, foreign.Config{
		Starter: f.Starter, Kind: f.Kind, Options: told(f.Options), Name: f.Name, Names: sim.LockNames(), Own: f.Own, FailedAcquire: f.FailedAcquire, Holding: f.Holding,
		Open: f.On.open, Server: f.On.Kind, Timing: foreign.Timing{Patience: f.Patience},
		Costs: &w.part.Costs, Checks: &w.part.Checks,
	})
	if err != nil {
		return nil, err
	}
	w.runner, w.quick = runner, time.Since(began) < soon
	w.pace = w.paceNow()
	w.meet()
	return w, nil
}

// meet records what the worker's clients declare about the lock.
func (w *worker) meet() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.about, w.sharing = w.runner.About(), w.runner.Sharing()
	w.announce()
}

// work runs scenarios until none is left or the run ends.
func (w *worker) work(ctx context.Context) error {
	for !w.stop.Load() && !w.allowed.Spent(w.foundAny()) {
		i, ok := w.following()
		if !ok {
			return nil
		}
		x, err := w.play(ctx, i)
		if err == nil {
			err = w.examine(ctx, i, x)
		}
		if err != nil {
			w.stop.Store(true)
			return fmt.Errorf("scenario %d: %w", i+1, err)
		}
		w.crawls(ctx)
	}
	return nil
}

// play runs scenario i. If an operation seems too expensive, it runs the scenario again and waits longer for commands;
// then the second execution counts.
func (w *worker) play(ctx context.Context, i int) (*foreign.Execution, error) {
	sc := w.runner.Playable(w.source.External(i, w.runner.Traits()))
	w.runner.Measure(0)
	if i%measuredEvery == 0 && w.wanted()&foreign.Measured != 0 {
		w.runner.Measure(foreign.SettleBriefly)
	}
	before := w.part
	x, err := w.runner.Run(ctx, &sc)
	if err != nil || !w.unexpected(x.Found&w.Properties) {
		return x, err
	}
	once := w.part
	w.part, w.fresh = before, false
	w.runner.Measure(foreign.SettleLong)
	y, err := w.runner.Run(ctx, &sc)
	if err != nil {
		return nil, err
	}
	if x.Found &^= foreign.Measured; x.Found&^y.Found != 0 { // report the first execution, which violates more
		w.part = once
		return x, nil
	}
	w.expect(y.Found)
	return y, nil
}

// examine records the violations of execution i, and lets fresh clients reproduce them.
func (w *worker) examine(ctx context.Context, i int, x *foreign.Execution) error {
	x.Found &= w.Properties
	x.Found &^= w.breaks(i, x)
	seen := x.Found & w.Own.Sometimes() // occurrences of "sometimes" properties need not be reproduced
	x.Found &^= seen
	open := w.record(i, x, w.fresh)
	x.Found |= seen
	w.take(i, x)
	w.fresh = false
	if open != 0 {
		once := w.part // repetitions are not counted in the costs
		left, err := w.confirm(ctx, i, x, open)
		w.part = once
		if err != nil {
			return err
		}
		w.noteRepeated(left != 0)
	}
	if !w.renews() {
		return nil
	}
	w.fresh = true
	return w.runner.Renew(ctx)
}

// breaks records the promises that execution i breaks although the contract does not demand them, and removes them from
// the violations. It returns all promises that are not demanded.
func (w *worker) breaks(i int, x *foreign.Execution) property.Set {
	w.mu.Lock()
	defer w.mu.Unlock()
	unasked := w.unasked()
	x.Violations = slices.DeleteFunc(x.Violations, func(v scenario.Violation) bool {
		if unasked.Has(v.Property) {
			w.broken = earliest(w.broken, v.Property, breach{i, v.Violation.Explain()})
		}
		return unasked.Has(v.Property)
	})
	return unasked
}

// earliest stores the breach of p unless an earlier execution broke p as well.
func earliest(all map[property.Property]breach, p property.Property, e breach) map[property.Property]breach {
	if all == nil {
		all = make(map[property.Property]breach)
	}
	if known, ok := all[p]; !ok || e.Execution < known.Execution {
		all[p] = e
	}
	return all
}

// confirm lets fresh clients repeat execution i to reproduce the violations of the properties in open. It returns the
// properties that they did not violate.
func (w *worker) confirm(ctx context.Context, i int, x *foreign.Execution, open property.Set) (property.Set, error) {
	sc := sim.Replay(x.Trace)
	tried, err := w.reproduce(ctx, w.allowed.Whole, &sc, open, func(p property.Property, t *scenario.Trace, try int) {
		open &^= 1 << p
		w.keep(p, reproduced(i+1, t, try))
	})
	for _, p := range open.BySeverity() {
		w.keep(p, recorded(i+1, x.Trace, tried))
	}
	return open, err
}

// reproduce lets fresh clients repeat a scenario until each property of want was violated. It calls shown with the
// property, the trace, and the number of the try.
func (w *worker) reproduce(ctx, time context.Context, sc *scenario.Scenario, want property.Set, shown func(p property.Property, t *scenario.Trace, try int)) (tried int, err error) {
	if err := w.runner.Renew(ctx); err != nil {
		return 0, err
	}
	err = repeat(ctx, time, w.runner, sc, want, func(x *foreign.Execution) bool {
		tried++
		for _, p := range (want & x.Found).BySeverity() {
			want &^= 1 << p
			shown(p, x.Trace, tried)
		}
		return want == 0
	})
	return tried, err
}

// repeat lets fresh clients run a scenario until enough returns true, at most reproductions times. If want has
// properties of cost, costs are measured.
func repeat(ctx, time context.Context, runner *foreign.Runner, sc *scenario.Scenario, want property.Set, enough func(*foreign.Execution) bool) error {
	defer runner.Measure(0)
	if runner.Measure(0); want&foreign.Measured != 0 {
		runner.Measure(foreign.SettleLong)
	}
	for try := range reproductions {
		if try > 0 && time.Err() != nil {
			return nil
		}
		if try > 0 {
			if err := runner.Renew(ctx); err != nil {
				return err
			}
		}
		x, err := runner.Run(ctx, sc)
		if err != nil || enough(x) {
			return err
		}
	}
	return nil
}
