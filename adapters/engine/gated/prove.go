package gated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/kept"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/secret"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Config says which lock to prove, and on how many scenarios. Starter is required. The default of Scenarios is
// [DefaultScenarios].
type Config struct {
	Lock
	engine.Sampling
	engine.Judging
	// Earlier is the result of repeating the counterexamples of earlier runs; see [Config.CarryOut]. It may be nil.
	Earlier *kept.Earlier
	// More is the maximum number of extra workers on the simulated broker. Extra workers start one after the other if
	// many scenarios are left, clients start quickly or wait long, and the processors have little to do.
	More int
	// Found is called with each violation as soon as it is recorded. It is called again when fresh clients have
	// reproduced the violation, and when a smaller execution is found. The last call for a property has the violation
	// of the result. Calls do not overlap. Found may be nil.
	Found func(*histories.Counterexample)
	// Progress is called after each execution. It may be nil.
	Progress func(engine.Progress)
}

// throughGate is appended to the name of a server behind the gate in reports.
const throughGate = ", through the gate"

// MoreWorkers is the default number of extra workers for each configured worker, if every client is a separate process.
const MoreWorkers = 5

// DefaultScenarios is the default number of scenarios of a run with external clients.
const DefaultScenarios = 2000

// measuredEvery is the interval of the scenarios that measure the cost of operations. Measuring makes a scenario
// slower.
const measuredEvery = 10

// Prove runs scenarios with external clients until all are done or ctx ends, and judges them. The schedule decides in
// which order clients' commands reach the server. It returns an error if a client cannot be started or breaks the
// protocol. The result contains what was found before.
func Prove(ctx context.Context, c Config) (*engine.Result, error) {
	began := time.Now()
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	var cancel context.CancelFunc
	run.allowed, cancel = engine.Allow(ctx, c.Time)
	defer cancel()
	err = run.run(ctx, 0, run.Scenarios, true)
	if err != nil && run.findings == ([property.Most]*finding{}) {
		return nil, err
	}
	res := run.concluded(ctx, began)
	c.Earlier.Into(res, c.Known)
	return res, errors.Join(err, c.Own.Err())
}

// CarryOut repeats the counterexamples of this lock that earlier runs have stored.
func (c Config) CarryOut(ctx context.Context, past kept.Past) (*kept.Earlier, error) {
	l := kept.Lock{
		Target: c.Name, Exec: secret.Command(c.Exec), Kind: c.Kind, Server: c.On.Kind, Servers: c.On.Servers, Options: engine.ByName(c.Options),
		Holes: c.Shape.Start != 0, Restarts: !c.On.Shared, Judging: c.Judging,
	}
	l.Properties = judgedOf(c.Kind, c.Properties) | c.Own.All()
	return kept.Run(ctx, past, l, func(ctx context.Context, ce *histories.Counterexample) (*engine.Replayed, error) {
		ce.Exec, ce.ExecOptions = c.Exec, c.Options // the file hides secrets in the command and options
		return ReplayOf(ctx, c.Own, ce, c.Starter, c.On)
	})
}

// run checks the configuration and prepares the run without starting it.
func (c Config) run() (*sharedRun, error) {
	if c.Scenarios < 0 || c.Depth < 0 || c.Depth > 64 {
		return nil, engine.Configuration(fmt.Errorf("%d scenarios of depth %d: expected at least 1, and at most 64", c.Scenarios, c.Depth))
	}
	if err := c.Shape.Check(c.Kind); err != nil {
		return nil, engine.Configuration(err)
	}
	if err := withoutHoles(c.Shape.Start); err != nil {
		return nil, err
	}
	if err := c.Own.Check(); err != nil {
		return nil, engine.Configuration(err)
	}
	c.Properties = judgedOf(c.Kind, c.Properties)&^c.On.meaningless() | c.Own.All()
	c.Scenarios = cmp.Or(c.Scenarios, DefaultScenarios)
	c.Workers = cmp.Or(c.Workers, runtime.GOMAXPROCS(0))
	run := &sharedRun{Config: c, source: c.source(), labels: c.labels()}
	run.sum.Sometimes, run.known = c.Own.Sometimes(), engine.KnownOf(c.Known, c.Properties, c.Own)
	return run, nil
}

// withoutHoles rejects initial slots with gaps, for example slots 1 and 3, because it is unknown which of an external
// lock's queues is a slot.
func withoutHoles(start scenario.SlotSet) error {
	if start != 0 && scenario.Begin("", start).Missing != 0 {
		return engine.Configuration(fmt.Errorf("slots %s to begin with: expected no hole, as nothing tells which queue is a slot of an external lock; locks of lockproof's own begin so", start))
	}
	return nil
}

// judgedOf returns the properties to judge for an external lock: the requested ones, or all that apply to every lock.
// Properties that the clients' declarations require are added later.
func judgedOf(k lock.Kind, asked property.Set) property.Set {
	if asked == 0 {
		return property.ApplicableExternal(k)
	}
	return asked & (property.ApplicableExternal(k) | property.Announceable)
}

// concluded returns the result, with the report, of a run that began at the given time.
func (f *sharedRun) concluded(ctx context.Context, began time.Time) *engine.Result {
	res := f.result()
	res.Report = f.report()
	res.Report.Elapsed, res.Report.Spent = time.Since(began), f.spent.Words()
	res.Report.Interrupted = ctx.Err() != nil
	return res
}

// labels returns the data that all counterexamples of the run share.
func (c *Config) labels() engine.Labels {
	o := histories.Origin{Seed: c.Seed, Broker: c.On.String() + throughGate, Options: engine.ByName(c.Options)}
	return engine.Labels{FailedAcquire: c.FailedAcquire, Origin: o, Exec: c.Exec, Kind: c.Kind, Options: c.Options, Holding: c.Holding.String(), Servers: c.On.Servers}
}

// result returns the result of the run without its report.
func (f *sharedRun) result() *engine.Result {
	res := &engine.Result{Traces: make(map[property.Property]*scenario.Trace), Labels: f.labels}
	for p, d := range f.findings {
		if d != nil {
			res.Traces[property.Property(p)] = d.trace
		}
	}
	return res
}

// source returns the source of the scenarios. They are drawn as for the reference lock of the same type.
func (c *Config) source() *sim.Source {
	return sim.NewSource(sim.Space{Target: engine.Reference(c.Kind), Strategies: c.Strategies, Depth: c.Depth, Shape: c.Shape}, c.Seed)
}

// told returns options in the form in which clients receive them.
func told(options map[string]string) map[string]any {
	out := make(map[string]any, len(options))
	for name, value := range options {
		out[name] = value
	}
	return out
}
