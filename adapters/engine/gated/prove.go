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

// Config says which lock to prove, and how thoroughly. Starter is required. The default of Scenarios is [DefaultScenarios].
type Config struct {
	Lock
	engine.Sampling
	engine.Judging
	// Earlier is the result of repeating the counterexamples of earlier runs; see [Config.CarryOut]. It may be nil.
	Earlier *kept.Earlier
	// More is the maximum number of extra workers on the simulated broker. They are started, one after the other, if many
	// scenarios are left, clients start quickly or wait long, and the processors have little to do. While some workers wait
	// for their clients, others use the processors.
	More int
	// Found is called with each violation as soon as it is recorded, and again whenever more is known about it: whether
	// fresh clients have reproduced it, and a smaller execution. The last call for a property has the violation of the
	// result. Calls do not overlap. Found may be nil.
	Found func(*histories.Counterexample)
	// Progress is called from time to time. It may be nil.
	Progress func(engine.Progress)
}

// throughGate is added to the name of a server behind the gate.
const throughGate = ", through the gate"

// MoreWorkers is the default number of extra workers per worker, if every client is a separate process.
const MoreWorkers = 5

// DefaultScenarios is the default number of scenarios of a run.
const DefaultScenarios = 2000

// measuredEvery is the interval of the scenarios that measure the cost of operations, which takes longer.
const measuredEvery = 10

// Prove runs scenarios with external clients until all are done or ctx ends, and judges them. The clients' commands reach
// the broker in the order that the schedule decides. The error is for a run that could not be carried out: a client can't be
// started or breaks the protocol. The result contains what was found before.
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

// CarryOut repeats the counterexamples that earlier runs have left for the lock.
func (c Config) CarryOut(ctx context.Context, past kept.Past) (*kept.Earlier, error) {
	l := kept.Lock{
		Target: c.Name, Exec: secret.Command(c.Exec), Kind: c.Kind, Server: c.On.Kind, Servers: c.On.Servers, Options: engine.ByName(c.Options),
		Holes: c.Shape.Start != 0, Restarts: !c.On.Shared, Judging: c.Judging,
	}
	l.Properties = judgedOf(c.Kind, c.Properties) | c.Own.All()
	return kept.Run(ctx, past, l, func(ctx context.Context, ce *histories.Counterexample) (*engine.Replayed, error) {
		ce.Exec, ce.ExecOptions = c.Exec, c.Options // with their secrets
		return ReplayOf(ctx, c.Own, ce, c.Starter, c.On)
	})
}

// run is the run, checked and with defaults; it has not started.
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

// withoutHoles rejects initial slots with holes: it is unknown which of the broker's queues would have to be removed.
func withoutHoles(start scenario.SlotSet) error {
	if start != 0 && scenario.Begin("", start).Missing != 0 {
		return engine.Configuration(fmt.Errorf("slots %s to begin with: expected no hole, as nothing tells which queue is a slot of an external lock; locks of lockproof's own begin so", start))
	}
	return nil
}

// judgedOf are the properties to judge for an external lock: the requested ones, or all. Properties that the clients'
// declarations require are added to all later.
func judgedOf(k lock.Kind, asked property.Set) property.Set {
	if asked == 0 {
		return property.ApplicableExternal(k)
	}
	return asked & (property.ApplicableExternal(k) | property.Announceable)
}

// concluded is the result of a run that began at the given time.
func (f *sharedRun) concluded(ctx context.Context, began time.Time) *engine.Result {
	res := f.result()
	res.Report = f.report()
	res.Report.Elapsed, res.Report.Spent = time.Since(began), f.spent.Words()
	res.Report.Interrupted = ctx.Err() != nil
	return res
}

// labels are the labels of the run's counterexamples.
func (c *Config) labels() engine.Labels {
	o := histories.Origin{Seed: c.Seed, Broker: c.On.String() + throughGate, Options: engine.ByName(c.Options)}
	return engine.Labels{FailedAcquire: c.FailedAcquire, Origin: o, Exec: c.Exec, Kind: c.Kind, Options: c.Options, Holding: c.Holding.String(), Servers: c.On.Servers}
}

// result is the result of the run, without the report.
func (f *sharedRun) result() *engine.Result {
	res := &engine.Result{Traces: make(map[property.Property]*scenario.Trace), Labels: f.labels}
	for p, d := range f.findings {
		if d != nil {
			res.Traces[property.Property(p)] = d.trace
		}
	}
	return res
}

// source is the source of the scenarios, which are those of the reference lock of the same type.
func (c *Config) source() *sim.Source {
	return sim.NewSource(sim.Space{Target: engine.Reference(c.Kind), Strategies: c.Strategies, Depth: c.Depth, Shape: c.Shape}, c.Seed)
}

// told are options in the form in which clients receive them.
func told(options map[string]string) map[string]any {
	out := make(map[string]any, len(options))
	for name, value := range options {
		out[name] = value
	}
	return out
}
