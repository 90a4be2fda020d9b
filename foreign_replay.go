package lockproof

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/scenario"
)

// ReplayForeign carries out a counterexample of somebody else's lock again. starter makes its clients: see
// [histories.Counterexample]. A real broker is not restarted, and where it does something else than the simulated
// one, that is an error.
func ReplayForeign(ctx context.Context, ce *histories.Counterexample, starter foreign.Starter, on ForeignBroker) (_ *Replayed, err error) {
	if on.URL != "" && restarts(&ce.Scenario) {
		return nil, fmt.Errorf("replaying on %s: skipped: the execution restarts the broker, which can't be done behind the gate; leave --on out", on)
	}
	stage, err := foreign.NewStage(ctx, foreign.Config{
		Starter: starter, Kind: ce.Kind, Options: told(ce.ExecOptions), Name: ce.Scenario.Target, Strength: ce.Strength,
		URL: on.URL, Sweep: on.Sweep,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	if foreign.Measured.Has(ce.Property) {
		stage.Measure(foreign.Stare)
	}
	x, err := stage.Run(ctx, &ce.Scenario)
	if err != nil {
		return nil, err
	}
	if x.Disagreement != "" {
		return nil, fmt.Errorf("replaying on %s: it does something else than the simulated broker: %s", on, x.Disagreement)
	}
	r := &Replayed{Trace: x.Trace}
	if v, ok := violationOf(x.Trace, ce.Property); ok {
		r.Violation = &v
	}
	return r, nil
}

// restarts reports whether the broker is restarted in a scenario.
func restarts(sc *scenario.Scenario) bool {
	return slices.ContainsFunc(sc.Faults, func(f scenario.Fault) bool { return f.Do == scenario.Restart }) ||
		slices.ContainsFunc(sc.Schedule.Actions, func(a scenario.Action) bool { return a.Do == scenario.Restart })
}
