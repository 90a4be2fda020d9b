package gated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/known"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/own"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Config says whose lock to prove, and how thoroughly. Starter alone must be given.
type Config struct {
	// Starter makes clients of the lock.
	Starter foreign.Starter
	// Exec is the command behind it, for counterexamples; "" where there is none.
	Exec string
	// Name is what the target is called; "" is what its clients call themselves.
	Name string
	// Kind is the type that the lock is taken for.
	Kind lock.Kind
	// Options are the target's own.
	Options map[string]string
	// Seed decides every scenario.
	Seed uint64
	// Scenarios is how many are run; 0 is [DefaultScenarios].
	Scenarios int
	// Time ends the run earlier, minimising included; see [engine.MinimisingShare]. Executions under way then are brought
	// to their end. 0 is no limit.
	Time time.Duration
	// Strategies are how schedules are drawn; none is all of them. Depth is PCT's; 0 draws it.
	Strategies []scenario.Strategy
	Depth      int
	// Shape is what of the workload and the faults is not drawn.
	Shape sim.Shape
	// Properties are those to judge; empty is all that apply.
	Properties property.Set
	// Own are users' own properties, which are judged as well.
	Own own.List
	// Demands are the promises that the lock's contract demands. It may break the others: that is said, and is not wrong.
	Demands property.Set
	// Holding is how the server shows who holds the lock, where that is declared. Nothing else depends on it.
	Holding holding.Declared
	// FailedAcquire is what a failed acquire is taken to promise.
	FailedAcquire property.FailedAcquire
	// Workers is how many scenarios run at once, each with clients of its own; 0 is one for each
	// processor. Clients that share something in one process take 1.
	Workers int
	// More is how many extra workers may begin on the simulated broker, if there are many scenarios to run, and clients
	// begin soon or wait for long. While some workers wait for their clients, others use the processors. Above Workers,
	// they begin one after the other while the processors have little to do.
	More int
	// On is the server behind the gate.
	On Server
	// Patience is how long a client may send nothing before the others go on without it; 0 is 2 seconds.
	Patience time.Duration
	// Until ends the run once one of these properties is violated, and has only their executions
	// minimised; what operations cost is not measured unless one of them asks for it. Empty runs on, and
	// minimises all.
	Until property.Set
	// Found is called with each violation at once, as it was recorded, and again whenever more is known of it: whether
	// fresh clients have reproduced it, and a smaller execution. The last of a property is that of the result.
	// The next call waits for it. It may be nil.
	Found func(*histories.Counterexample)
	// Known are violations that are known: an execution that shows another one of the same property takes their place.
	Known known.Findings
	// Progress is called now and then. It may be nil.
	Progress func(engine.Progress)
}

// Server is what stands behind the gate. The zero value is the simulated broker.
type Server struct {
	// Kind is one of [Kinds]; "" is AMQP.
	Kind string
	// Servers is how many there are, of which none knows of the others; 0 is one.
	Servers int
	// Name is what the report calls it; "" is the simulated broker.
	Name string
	// Open opens it, for one worker; nil is the simulated broker.
	Open func() (gate.Server, error)
	// Shared says that all workers use the same one, and others may as well.
	Shared bool
	// Unseen says in a sentence what is not known of it; "" is nothing.
	Unseen string
}

// String is what the server is called.
func (s Server) String() string { return cmp.Or(s.Name, engine.Simulated) }

// meaningless are the properties that mean nothing there: which commands every driver has is a matter of AMQP.
func (s Server) meaningless() property.Set {
	if s.Kind == "" || s.Kind == AMQP {
		return 0
	}
	return property.Set(0).With(property.MinimalDriver)
}

// open opens it.
func (s Server) open() (gate.Server, error) {
	if s.Open == nil {
		return plugin.Simulated()
	}
	return s.Open()
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
	return run.concluded(ctx, began), errors.Join(err, c.Own.Err())
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
