package sample

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/kept"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// Config says which lock to judge, and on how many scenarios. The default of Scenarios is [DefaultScenarios].
type Config struct {
	// Target is the lock to judge; nil means the reference semaphore.
	Target *lock.Target
	// Options fixes options of the target, by name and value. Options that are not fixed are drawn from their safe
	// values.
	Options [][2]string
	engine.Sampling
	engine.Judging
	// Earlier is the result of repeating the counterexamples of earlier runs; see [Config.CarryOut]. It may be nil.
	Earlier *kept.Earlier
	// Coverage makes a [Part] report which pairs of commands and broker states its executions reach.
	Coverage bool
	// Found is called with each violation as soon as it is seen, and again when its execution is minimised. The last
	// call for a property has the violation that the result contains. Calls do not overlap. Found may be nil.
	Found func(*histories.Counterexample)
	// Progress is called after each block of scenarios. It may be nil.
	Progress func(engine.Progress)
}

// DefaultScenarios is the default number of scenarios of a run.
const DefaultScenarios = 100_000

// Prove runs scenarios until all are done or ctx ends, and judges them. It returns an error if the run failed. The
// result contains what the run found, even if ctx ended it early.
func Prove(ctx context.Context, c Config) (*engine.Result, error) {
	c = c.filled()
	if err := c.check(); err != nil {
		return nil, engine.Configuration(err)
	}
	began := time.Now()
	allowed, cancel := engine.Allow(ctx, c.Time)
	defer cancel()
	run := c.sampling(allowed)
	sum := run.run(0, c.Scenarios)
	res := &engine.Result{Traces: run.minimise(sum.Violated()), Labels: run.labels}
	res.Report = c.report(sum, res.Traces)
	for p := range res.Traces {
		res.Report.Result(p).Violation.Compared = run.compared[p]
	}
	res.Report.Elapsed = time.Since(began)
	res.Report.Interrupted = ctx.Err() != nil
	c.Earlier.Into(res, c.Known)
	return res, c.Own.Err()
}

// CarryOut repeats the counterexamples of this lock that earlier runs have stored.
func (c Config) CarryOut(ctx context.Context, past kept.Past) (*kept.Earlier, error) {
	c = c.filled()
	l := kept.Lock{
		Target: c.Target.Name, Server: c.Target.Backend, Options: engine.Assigned(c.Options), Holes: c.Shape.Start != 0, Restarts: true,
		Judging: c.Judging,
	}
	return kept.Run(ctx, past, l, func(_ context.Context, ce *histories.Counterexample) (*engine.Replayed, error) {
		return engine.ReplayOf(c.Target, c.Own, ce), nil
	})
}

// sampling prepares the run without starting it.
func (c *Config) sampling(allowed engine.Allowance) *sampling {
	space := sim.Space{Target: c.Target, Fixed: c.Options, Strategies: c.Strategies, Depth: c.Depth, Shape: c.Shape}
	s := &sampling{Config: *c, source: sim.NewSource(space, c.Seed), allowed: allowed, labels: engine.Labels{FailedAcquire: c.FailedAcquire, Origin: c.origin()}}
	s.sum.Sometimes, s.known = c.Own.Sometimes(), engine.KnownOf(c.Known, c.Properties, c.Own)
	return s
}

// filled returns the configuration with defaults in place of zero fields.
func (c Config) filled() Config {
	if c.Target == nil {
		c.Target = engine.Reference(lock.Semaphore)
	}
	c.Options = lock.Renamed(lock.BackendOf(c.Target).Defaults, c.Options)
	if c.Scenarios == 0 {
		c.Scenarios = DefaultScenarios
	}
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	c.Properties = engine.JudgedOf(property.Of(c.Target), c.Properties) | c.Own.All()
	return c
}

// origin returns the data about the run that its counterexamples contain: seed, server and options.
func (c *Config) origin() histories.Origin {
	return histories.Origin{Seed: c.Seed, Broker: engine.SimulatedOf(c.Target), Options: engine.Assigned(c.Options)}
}

func (c *Config) check() error {
	o, err := engine.OptionsOf(c.Target, c.Options)
	if err != nil {
		return err
	}
	if err := o.Check(); err != nil {
		return err
	}
	if err := c.Shape.Check(c.Target.Kind); err != nil {
		return err
	}
	if err := c.Own.Check(); err != nil {
		return err
	}
	if c.Scenarios < 0 {
		return fmt.Errorf("scenarios %d: expected at least 1", c.Scenarios)
	}
	if c.Depth < 0 || c.Depth > 64 {
		return fmt.Errorf("depth %d: expected 1 to 64, or 0 to draw it", c.Depth)
	}
	return nil
}
