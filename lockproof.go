// Package lockproof decides whether a distributed lock or semaphore is correct and cheap, and shows
// the shortest execution found in which it is not.
//
// [Prove] draws scenarios (workload, options, faults, schedule), runs them on a deterministic
// simulated broker, judges every property, minimises what violates one, and reports.
package lockproof

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// Version is the version of the tool, in reports and counterexamples.
const Version = "0.1.0"

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
	// Time ends the run earlier; 0 is no limit. How many scenarios fit is then the machine's doing.
	Time time.Duration
	// Strategies are how schedules are drawn; none is all of them.
	Strategies []scenario.Strategy
	// Depth is PCT's depth parameter; 0 draws it.
	Depth int
	// Strength is what a failed acquire is taken to promise.
	Strength spec.Strength
	// Workers is how many run scenarios at once; 0 is one for each processor. It does not change
	// the result.
	Workers int
	// Until ends the run once one of these properties was seen violated, and has only their
	// executions minimised. Empty runs on, and minimises all.
	Until spec.PropertySet
	// Progress is told now and then how far the run is. It may be nil.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Scenarios, Of int
	Violated      int // properties
	Tries         int // scenarios tried to make counterexamples smaller, where that takes long
}

// DefaultScenarios is how many scenarios a run has that does not say.
const DefaultScenarios = 100_000

// Result is what a run came to.
type Result struct {
	Report *histories.Report
	// Strength is what a failed acquire was taken to promise.
	Strength spec.Strength
	// Traces are the minimised executions that violate a property, by property.
	Traces map[spec.Property]*scenario.Trace

	// Of somebody else's program: its command, the type that it was taken for, and its options.
	exec    string
	kind    lock.Kind
	options map[string]string
}

// Prove runs scenarios until they are done or ctx is over, and judges them. The error is for a run
// that could not be made; what the run found is in the result, also when it was cut short.
func Prove(ctx context.Context, c Config) (*Result, error) {
	c = c.filled()
	if err := c.check(); err != nil {
		return nil, err
	}
	began := time.Now()
	space := sim.Space{Target: c.Target, Fixed: c.Options, Strategies: c.Strategies, Depth: c.Depth}
	timed, cancel := deadline(ctx, c.Time)
	defer cancel()
	run := sampling{
		target: c.Target, source: sim.NewSource(space, c.Seed), strength: c.Strength, limit: c.Scenarios,
		enough: c.enough, tell: c.tell,
	}
	sum := run.run(timed, c.Workers)
	res := &Result{Strength: c.Strength, Traces: make(map[spec.Property]*scenario.Trace)}
	for p := range spec.PropertyCount {
		if i := sum.first[p]; i > 0 && (c.Until == 0 || c.Until.Has(p)) {
			s := run.source.Scenario(i - 1)
			res.Traces[p] = c.shortest(&s, p)
		}
	}
	res.Report = c.report(sum, res.Traces)
	res.Report.Elapsed = time.Since(began)
	res.Report.Interrupted = ctx.Err() != nil
	return res, nil
}

// filled is the configuration with defaults for what was left out.
func (c Config) filled() Config {
	if c.Target == nil {
		c.Target = lock.References[0]
	}
	if c.Scenarios == 0 {
		c.Scenarios = DefaultScenarios
	}
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	return c
}

func (c *Config) check() error {
	o := lock.DefaultOptions()
	for _, f := range c.Options {
		if err := o.Set(f[0], f[1]); err != nil {
			return err
		}
	}
	o = c.Target.Settled(o)
	if err := o.Check(); err != nil {
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

func (c *Config) enough(s *sample) bool {
	for p, i := range s.first {
		if i > 0 && c.Until.Has(spec.Property(p)) {
			return true
		}
	}
	return false
}

func (c *Config) tell(s *sample) {
	if c.Progress == nil {
		return
	}
	c.Progress(s.progress(c.Scenarios))
}

// minimisingTries bounds how many scenarios are tried to make one counterexample smaller.
const minimisingTries = 60_000

// shortest is the smallest execution found that violates a property, beginning from a scenario that
// does.
func (c *Config) shortest(s *scenario.Scenario, p spec.Property) *scenario.Trace {
	var r sim.Runner
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
		return sim.Violating(r.Trace(c.Target, s, c.Strength), p)
	}
	free := func(option string) bool {
		for _, f := range c.Options {
			if f[0] == option {
				return false
			}
		}
		return true
	}
	first := sim.Replay(r.Trace(c.Target, s, c.Strength))
	least := histories.Minimise(first, attempt, free, minimisingTries)
	return r.Trace(c.Target, &least, c.Strength)
}
