package lockproof

import (
	"context"
	"io"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/property"
)

// Prove draws executions (clients, options, faults, an order of commands), judges them and minimises counterexamples.
func Prove(ctx context.Context, t Target, s Sample) (*Result, error) {
	r, err := newRun(ctx, t, s.Options)
	if err != nil {
		return nil, err
	}
	return r.sample(&s)
}

// Explore visits every order of commands, up to equivalence, and every placement of faults, on the simulated broker.
func Explore(ctx context.Context, t Target, b Bounds) (*Result, error) {
	r, err := newRun(ctx, t, b.Options)
	if err != nil {
		return nil, err
	}
	if r.external() {
		return r.simulated("Explore", func() (*Result, error) { return r.exploreExternal(&b) })
	}
	return r.simulated("Explore", func() (*Result, error) { return r.explore(&b) })
}

// Stress judges the history of many clients at once on a real server.
func Stress(ctx context.Context, t Target, l Load) (*Result, error) {
	r, err := newRun(ctx, t, l.Options)
	if err != nil {
		return nil, err
	}
	if l.Server == "" {
		return nil, invalid("Stress on the simulated broker: expected a server, such as \"rabbitmq\" or an address")
	}
	r.restarts = l.Restarts > 0
	if r.external() {
		return r.on(func() (*Result, error) { return r.stressExternal(&l) })
	}
	return r.on(func() (*Result, error) { return r.stress(&l) })
}

// Replay repeats the steps of a counterexample with its Target.
func Replay(ctx context.Context, c *Counterexample, o Options) (*Result, error) {
	if c.Target.zero() {
		return nil, invalid("counterexample of %q, which is no lock of this module: expected its Target to be set to the lock that is meant", c.Name)
	}
	o.Properties, o.Require = nil, nil
	r, err := newRun(ctx, c.Target, o)
	if err != nil {
		return nil, err
	}
	file := *c.file
	r.restarts = file.Scenario.Restarts()
	if own := file.Violation.Own; own != "" {
		if o.Server != "" {
			return nil, invalid("replaying %s on a real server: expected the simulated broker, which a property of your own looks at", own)
		}
		var ok bool
		if file.Property, ok = r.list.Named(own); !ok {
			return nil, invalid("counterexample of %s: expected that property of your own among Options.Own", own)
		}
	}
	if r.external() {
		if err := file.GiveOptions(r.told()); err != nil {
			return nil, invalid("counterexample of %s: %v: expected them of its Target, by With", c.Name, err)
		}
		return r.on(func() (*Result, error) { return r.replayExternal(&file) })
	}
	return r.on(func() (*Result, error) { return r.replay(&file) })
}

// Check judges a recorded history: JSON Lines, a JSON array, or Jepsen's EDN.
func Check(history io.Reader, o Options) (*Result, error) {
	began, name := time.Now(), "history"
	if file, ok := history.(interface{ Name() string }); ok {
		name = file.Name()
	}
	recording, err := histories.NewRecording(history, name, histories.Unnamed)
	if err != nil {
		return nil, err
	}
	defer recording.Close()
	r := &run{o: o, kind: recording.History().Kind, list: listOf(o.Own)}
	if err := r.list.Check(); err != nil {
		return nil, asInvalid(err)
	}
	if err := r.judge(property.Applicable(r.kind)); err != nil {
		return nil, err
	}
	report, err := recorded.CheckRecording(recording, recorded.CheckOptions{Judging: r.judging(), Source: name})
	if err != nil {
		return nil, err
	}
	report.Elapsed = time.Since(began)
	return r.result(&engine.Result{Report: report}, nil)
}
