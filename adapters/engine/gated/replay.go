package gated

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
)

// Replay repeats a counterexample of an external lock until it shows the violation, at most five times. It uses fresh
// clients each time; starter starts them. A real broker cannot be restarted for this. If it replies differently from
// the simulated broker, Replay returns an error.
func Replay(ctx context.Context, ce *histories.Counterexample, starter foreign.Starter, on Server) (*engine.Replayed, error) {
	if ce.Property.Own() {
		return nil, engine.UnknownOwn(ce)
	}
	return ReplayOf(ctx, nil, ce, starter, on)
}

// ReplayOf is [Replay] for violations of custom properties as well. list contains the custom properties.
func ReplayOf(ctx context.Context, list own.List, ce *histories.Counterexample, starter foreign.Starter, on Server) (_ *engine.Replayed, err error) {
	if on.Shared && ce.Scenario.Restarts() {
		return nil, fmt.Errorf("replaying on %s: skipped: the execution restarts the broker, which can't be done behind the gate, and can on the simulated broker", on)
	}
	if kind := ce.Scenario.Server; kind != "" && kind != AMQP {
		if on.Shared {
			return nil, fmt.Errorf("replaying on %s: its lock is one on %s: leave out where", on, kind)
		}
		if on, err = ServerOf(kind, ce.Servers); err != nil {
			return nil, err
		}
	}
	held, err := holding.Parse(ce.Holding)
	if err != nil {
		return nil, err
	}
	runner, err := foreign.NewRunner(ctx, foreign.Config{
		Starter: starter, Kind: ce.Kind, Options: told(ce.ExecOptions), Name: ce.Scenario.Target, Own: list, FailedAcquire: ce.FailedAcquire, Holding: held,
		Open: on.open, Server: on.Kind,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	r := &engine.Replayed{Own: list, FailedAcquire: ce.FailedAcquire, Server: on.String()}
	disagreement := ""
	err = repeat(ctx, ctx, runner, &ce.Scenario, property.Set(0).With(ce.Property), func(x *foreign.Execution) bool {
		r.Trace, disagreement = x.Trace, x.Disagreement
		r.Tries.Of++
		if v, ok := x.Trace.Violation(ce.Property); ok {
			r.Violation = &v
			r.Tries.Shown++
		}
		return r.Violation != nil || disagreement != ""
	})
	if err != nil {
		return nil, err
	}
	if disagreement != "" {
		return nil, fmt.Errorf("replaying on %s: it does something else than the simulated broker: %s", on, disagreement)
	}
	return r, nil
}
