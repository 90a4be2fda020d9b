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

// Config says whose lock to prove, and how thoroughly. Its Starter must be given. Scenarios are [DefaultScenarios] if it says
// nothing of them.
type Config struct {
	Lock
	engine.Sampling
	engine.Judging
	// Earlier is what became of the counterexamples of earlier runs; see [Config.CarryOut]. It may be nil.
	Earlier *kept.Earlier
	// More is how many extra workers may begin on the simulated broker, if there are many scenarios to run, and clients
	// begin soon or wait for long. While some workers wait for their clients, others use the processors. Above Workers,
	// they begin one after the other while the processors have little to do.
	More int
	// Found is called with each violation at once, as it was recorded, and again whenever more is known of it: whether
	// fresh clients have reproduced it, and a smaller execution. The last of a property is that of the result.
	// The next call waits for it. It may be nil.
	Found func(*histories.Counterexample)
	// Progress is called now and then. It may be nil.
	Progress func(engine.Progress)
}

// throughGate is said of a server behind the gate.
const throughGate = ", through the gate"

// MoreWorkers is how many more may begin for each worker where every client is a process of its own, and nobody says how many.
const MoreWorkers = 5

// DefaultScenarios is the number of scenarios of a run by default.
const DefaultScenarios = 2000

// measuredEvery is how often a scenario tells what operations cost, which takes more time.
const measuredEvery = 10

// Prove runs scenarios with anybody's clients until they are done or ctx is over, and judges them.
// Their commands reach the broker in the order that the schedule says. The error is for a run that could not
// be made: a client that can't be started, or that breaks the protocol. The result has what was found before.
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

// CarryOut carries out what earlier runs have left of the lock.
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

// run is the run, checked and with defaults for what was left out; it has not begun.
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

// withoutHoles refuses slots with a hole to begin with: nothing tells which of the broker's queues would have to be taken away.
func withoutHoles(start scenario.SlotSet) error {
	if start != 0 && scenario.Begin("", start).Missing != 0 {
		return engine.Configuration(fmt.Errorf("slots %s to begin with: expected no hole, as nothing tells which queue is a slot of an external lock; locks of lockproof's own begin so", start))
	}
	return nil
}

// judgedOf are the properties to judge of those that mean something for somebody else's lock: the ones that were asked for, or
// all, to which those come then that its clients announce.
func judgedOf(k lock.Kind, asked property.Set) property.Set {
	if asked == 0 {
		return property.ApplicableExternal(k)
	}
	return asked & (property.ApplicableExternal(k) | property.Announceable)
}

// concluded is what a run came to that began then.
func (f *sharedRun) concluded(ctx context.Context, began time.Time) *engine.Result {
	res := f.result()
	res.Report = f.report()
	res.Report.Elapsed, res.Report.Spent = time.Since(began), f.spent.Words()
	res.Report.Interrupted = ctx.Err() != nil
	return res
}

// labels are what its counterexamples say.
func (c *Config) labels() engine.Labels {
	o := histories.Origin{Seed: c.Seed, Broker: c.On.String() + throughGate, Options: engine.ByName(c.Options)}
	return engine.Labels{FailedAcquire: c.FailedAcquire, Origin: o, Exec: c.Exec, Kind: c.Kind, Options: c.Options, Holding: c.Holding.String(), Servers: c.On.Servers}
}

// result is what the run came to, but for the report.
func (f *sharedRun) result() *engine.Result {
	res := &engine.Result{Traces: make(map[property.Property]*scenario.Trace), Labels: f.labels}
	for p, d := range f.findings {
		if d != nil {
			res.Traces[property.Property(p)] = d.trace
		}
	}
	return res
}

// source gives the scenarios: those of the reference lock of the same type.
func (c *Config) source() *sim.Source {
	return sim.NewSource(sim.Space{Target: engine.Reference(c.Kind), Strategies: c.Strategies, Depth: c.Depth, Shape: c.Shape}, c.Seed)
}

// told is options as they are handed to clients.
func told(options map[string]string) map[string]any {
	out := make(map[string]any, len(options))
	for name, value := range options {
		out[name] = value
	}
	return out
}
