package sample

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Config says what to prove and how thoroughly.
type Config struct {
	// Target is the lock to judge; nil is the reference semaphore.
	Target *lock.Target
	// Options fixes options of the target, by name and value; the others are drawn among the safe
	// ones.
	Options [][2]string
	// Seed decides every scenario.
	Seed uint64
	// Scenarios is how many are run; 0 is [DefaultScenarios].
	Scenarios int
	// Time ends the run earlier, minimising included; see [engine.MinimisingShare]. How many scenarios fit is then the
	// machine's doing. 0 is no limit.
	Time time.Duration
	// Strategies are how schedules are drawn; none is all of them.
	Strategies []scenario.Strategy
	// Depth is PCT's depth parameter; 0 draws it.
	Depth int
	// Shape is what of the workload and the faults is not drawn.
	Shape sim.Shape
	// Properties are those to judge; empty is all that apply.
	Properties property.Set
	// Own are users' own properties, which are judged as well.
	Own own.List
	// FailedAcquire is what a failed acquire is taken to promise.
	FailedAcquire property.FailedAcquire
	// Workers is how many run scenarios at once; 0 is one for each processor. It does not change
	// the result.
	Workers int
	// Until ends the run once one of these properties was seen violated, and has only their
	// executions minimised. Empty runs on, and minimises all. The scenarios run then do not depend on Workers either.
	Until property.Set
	// Known are violations that are known: an execution that shows another one of the same property takes their place.
	Known known.Findings
	// Coverage has a [Part] tell which pairs of commands and states of the broker its executions come to.
	Coverage bool
	// Found is called with each violation at once, as it was first seen, and again when its execution is as small as it
	// gets. The last of a property is that of the result. The next call waits for it. It may be nil.
	Found func(*histories.Counterexample)
	// Progress is called now and then. It may be nil.
	Progress func(engine.Progress)
}

// DefaultScenarios is the number of scenarios of a run by default.
const DefaultScenarios = 100_000

// Prove runs scenarios until they are done or ctx is over, and judges them. The error is for a run
// that could not be made; what the run found is in the result, also when it was cut short.
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
	return res, c.Own.Err()
}

// sampling is a run that has not begun.
func (c *Config) sampling(allowed engine.Allowance) *sampling {
	space := sim.Space{Target: c.Target, Fixed: c.Options, Strategies: c.Strategies, Depth: c.Depth, Shape: c.Shape}
	s := &sampling{Config: *c, source: sim.NewSource(space, c.Seed), allowed: allowed, labels: engine.Labels{FailedAcquire: c.FailedAcquire, Origin: c.origin()}}
	s.sum.Sometimes, s.known = c.Own.Sometimes(), engine.KnownOf(c.Known, c.Properties, c.Own)
	return s
}

// filled is the configuration with defaults for what was left out.
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

// origin is what counterexamples say of the run.
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
