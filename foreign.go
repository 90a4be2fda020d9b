package lockproof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
)

// ForeignConfig says whose lock to prove, and how thoroughly. Starter alone must be given.
type ForeignConfig struct {
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
	// Scenarios is how many are run; 0 is [DefaultForeignScenarios].
	Scenarios int
	// Time ends the run earlier; 0 is no limit.
	Time time.Duration
	// Strategies are how schedules are drawn; none is all of them. Depth is PCT's; 0 draws it.
	Strategies []scenario.Strategy
	Depth      int
	// Strength is what a failed acquire is taken to promise.
	Strength spec.Strength
	// Workers is how many scenarios run at once, each with clients of its own; 0 is one for each
	// processor. Clients that share something in one process take 1.
	Workers int
	// On is the broker behind the gate; the zero value is the simulated one.
	On ForeignBroker
	// Patience is how long a client may send nothing before the others go on without it; 0 is 2 seconds.
	Patience time.Duration
	// Until ends the run once one of these properties was seen violated, and has only their executions
	// minimised; what operations cost is not measured unless one of them asks for it. Empty runs on, and
	// minimises all.
	Until spec.PropertySet
	// Progress is told now and then how far the run is. It may be nil.
	Progress func(Progress)
}

// ForeignBroker is a real broker behind the gate.
type ForeignBroker struct {
	// URL is where it is, an address that begins with amqp://. "" is the simulated broker.
	URL string
	// Version is what it calls itself, for the report: "RabbitMQ 3.10.8".
	Version string
	// Sweep deletes queues from it, whether or not they exist: those that the clients have left.
	Sweep func(queues []string) error
}

// String is what the broker is called.
func (b ForeignBroker) String() string {
	if b.URL == "" {
		return "the simulated broker"
	}
	return b.Version
}

// DefaultForeignScenarios is how many scenarios a run has that does not say.
const DefaultForeignScenarios = 2000

// measuredEvery is how often a scenario tells what operations cost, which takes more time.
const measuredEvery = 10

// ProveForeign runs scenarios with anybody's clients until they are done or ctx is over, and judges them.
// Their commands reach the broker in the order that the schedule says. The error is for a run that could not
// be made: a client that can't be started, or that breaks the protocol.
func ProveForeign(ctx context.Context, c ForeignConfig) (*Result, error) {
	if c.Scenarios < 0 || c.Depth < 0 || c.Depth > 64 {
		return nil, fmt.Errorf("%d scenarios of depth %d: expected at least 1, and at most 64", c.Scenarios, c.Depth)
	}
	c.Scenarios = cmp.Or(c.Scenarios, DefaultForeignScenarios)
	c.Workers = cmp.Or(c.Workers, runtime.GOMAXPROCS(0))
	began := time.Now()
	run := foreignRun{ForeignConfig: c, source: c.source()}
	timed, cancel := deadline(ctx, c.Time)
	defer cancel()
	traces, err := run.run(timed, ctx)
	if err != nil {
		return nil, err
	}
	res := &Result{Strength: c.Strength, Traces: traces, exec: c.Exec, kind: c.Kind, options: c.Options}
	res.Report = run.report(traces)
	res.Report.Elapsed = time.Since(began)
	res.Report.Interrupted = ctx.Err() != nil
	return res, nil
}

// source gives the scenarios: those of the reference lock of the same type.
func (c *ForeignConfig) source() *sim.Source {
	return sim.NewSource(sim.Space{Target: referenceOf(c.Kind), Strategies: c.Strategies, Depth: c.Depth}, c.Seed)
}

// referenceOf is the reference lock of a type.
func referenceOf(k lock.Kind) *lock.Target {
	i := slices.IndexFunc(lock.References, func(t *lock.Target) bool { return t.Kind == k })
	if i < 0 {
		panic("lockproof: no reference lock is a " + k.String())
	}
	return lock.References[i]
}

// foreignRun is a run over the scenarios of one seed, shared by its workers.
type foreignRun struct {
	ForeignConfig
	source *sim.Source

	next      atomic.Int64
	stop      atomic.Bool
	mu        sync.Mutex
	sum       sample
	about     foreign.About
	judgeable spec.PropertySet
	exploring bool // every order of commands is visited; no fault happens, and no cost is measured
	tries     int
	dear      spec.PropertySet // of those that are measured: what was seen violated for certain
	free      foreign.Uncontrolled
	wire      wire.Counts
	agreed    int // replies on which a real broker and the simulated one agreed
	traffic   foreign.Traffic
	sharing   bool // clients share a connection
	wild      int  // scenarios that were not controlled altogether
	// disagreement is how a real broker first did something else than the simulated one.
	disagreement string
}

// run has stages play until all scenarios are done, enough was seen, or timed is over; then, while ctx is
// not, executions that violate something are made smaller.
func (f *foreignRun) run(timed, ctx context.Context) (map[spec.Property]*scenario.Trace, error) {
	stages := make([]*foreign.Stage, min(f.Workers, f.Scenarios))
	parts := make([]sample, len(stages))
	errs := make([]error, len(stages))
	var wg sync.WaitGroup
	for i := range stages {
		wg.Go(func() {
			if stages[i], errs[i] = foreign.NewStage(ctx, f.stage(&parts[i])); errs[i] == nil {
				errs[i] = f.work(timed, stages[i])
			}
		})
	}
	wg.Wait()
	for i := range parts {
		f.sum.merge(&parts[i]) // costs and checks: all else is in the sum already
	}
	traces := make(map[spec.Property]*scenario.Trace)
	if errors.Join(errs...) == nil {
		for _, s := range stages {
			f.measured(s)
		}
		traces, errs = f.shortest(ctx, stages, f.first)
	}
	for _, s := range stages {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	for _, err := range errs { // one is enough: the others tend to be the same
		if err != nil {
			return nil, err
		}
	}
	return traces, nil
}

// measured takes in what went over the wire of a stage.
func (f *foreignRun) measured(s *foreign.Stage) {
	counts := s.Wire()
	f.wire.Add(&counts)
	if f.traffic == nil {
		f.traffic = make(foreign.Traffic)
	}
	f.traffic.Merge(s.Traffic())
	f.agreed += s.Agreed()
}

// stage is what a worker's stage is made of.
func (f *foreignRun) stage(part *sample) foreign.Config {
	return foreign.Config{
		Starter: f.Starter, Kind: f.Kind, Options: told(f.Options), Name: f.Name, Strength: f.Strength,
		URL: f.On.URL, Sweep: f.On.Sweep, Patience: f.Patience, Costs: &part.costs, Checks: &part.checks,
	}
}

// work plays scenarios until there are none left.
func (f *foreignRun) work(ctx context.Context, stage *foreign.Stage) error {
	f.meet(stage)
	for !f.stop.Load() && ctx.Err() == nil {
		i := int(f.next.Add(1) - 1)
		if i >= f.Scenarios {
			return nil
		}
		x, err := f.play(ctx, stage, i)
		switch {
		case ctx.Err() != nil: // it was cut short
			return nil
		case err != nil:
			f.stop.Store(true)
			return fmt.Errorf("scenario %d: %w", i+1, err)
		}
		f.take(i, x)
	}
	return nil
}

// meet takes in whose lock it is.
func (f *foreignRun) meet(stage *foreign.Stage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.about, f.judgeable, f.sharing = stage.About(), stage.Judgeable(), stage.Sharing()
}

// unexpected reports whether something seems to cost too much that was not seen for certain to do so before.
func (f *foreignRun) unexpected(found spec.PropertySet) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return found&foreign.Measured&^f.dear != 0
}

// expect notes what was seen for certain.
func (f *foreignRun) expect(found spec.PropertySet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dear |= found & foreign.Measured
}

// play plays the i-th scenario. What seems to cost too much is looked at again, more patiently.
func (f *foreignRun) play(ctx context.Context, stage *foreign.Stage, i int) (*foreign.Execution, error) {
	sc := stage.Playable(f.source.Scenario(i))
	stage.Measure(0)
	if i%measuredEvery == 0 && (f.Until == 0 || f.Until&foreign.Measured != 0) {
		stage.Measure(foreign.Glance)
	}
	x, err := stage.Run(ctx, &sc)
	if err != nil || !f.unexpected(x.Found) {
		return x, err
	}
	stage.Measure(foreign.Stare)
	if x, err = stage.Run(ctx, &sc); err == nil {
		f.expect(x.Found)
	}
	return x, err
}

// take adds an execution to what was found.
func (f *foreignRun) take(i int, x *foreign.Execution) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sum.addForeign(i, x)
	f.free.Add(x.Uncontrolled)
	f.disagreement = cmp.Or(f.disagreement, x.Disagreement)
	if !x.Uncontrolled.Free() {
		f.wild++
	}
	if x.Found&f.Until != 0 {
		f.stop.Store(true)
	}
	if f.Progress != nil {
		f.Progress(f.sum.progress(f.Scenarios))
	}
}

// addForeign takes in an execution of somebody else's clients.
func (s *sample) addForeign(i int, x *foreign.Execution) {
	s.scenarios++
	s.steps += len(x.Steps)
	s.commands += x.Sent
	s.operations += x.Called
	if x.Undecided {
		s.undecided++
	}
	s.note(i, x.Exercised, x.Found, sim.Sighted(x.Trace))
	s.stale(x.Overlap, x.Overlaps)
}

// firstSeen gives the execution that first violated a property, which the stage may have to play again.
type firstSeen func(ctx context.Context, stage *foreign.Stage, p spec.Property) (*foreign.Execution, error)

// first is the execution of the scenario that did.
func (f *foreignRun) first(ctx context.Context, stage *foreign.Stage, p spec.Property) (*foreign.Execution, error) {
	return f.play(ctx, stage, f.sum.first[p]-1)
}

// told is options as clients are told them.
func told(options map[string]string) map[string]any {
	out := make(map[string]any, len(options))
	for name, value := range options {
		out[name] = value
	}
	return out
}
