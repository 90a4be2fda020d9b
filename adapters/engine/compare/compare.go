package compare

import (
	"context"
	"fmt"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// Config says which locks to compare, and how thoroughly to search.
type Config struct {
	// Targets are the locks to compare; nil means [engine.References].
	Targets []*lock.Target
	// Time is the approximate time for all searches on simulated servers. A lock is searched completely with each kind
	// of fault if the time suffices. 0 means no limit.
	Time time.Duration
	// Scenarios is the number of drawn executions of each lock; 0 means [DefaultScenarios]. They are drawn from Seed.
	Scenarios int
	Seed      uint64
	Workers   int
	// Measure measures a lock on a real server. If it has no result, left is the reason. An error ends the run. Without
	// Measure nothing is measured.
	Measure func(ctx context.Context, t *lock.Target) (m *report.Measured, left string, err error)
	// Progress is called with the lock that comes next, the number of locks done, and their total. It may be nil.
	Progress func(done, of int, t *lock.Target)
}

// DefaultScenarios is the default number of drawn executions of each lock.
const DefaultScenarios = 2000

// compareMemory is the maximum memory of each search, in bytes.
const compareMemory = 1 << 30

// comparedFaults are the kinds of faults. Each is a column of the table. flags are the flags of `lockproof explore`
// that allow one fault of the kind.
var comparedFaults = []struct {
	name, flags string
	bounds      sim.FaultBounds
}{
	{"none", "--crashes 0", sim.FaultBounds{}},
	{"crash", "--crashes 1", sim.FaultBounds{Crashes: 1, Late: true}},
	{"drop", "--crashes 0 --drops 1", sim.FaultBounds{Drops: 1, Late: true}},
	{"abort", "--crashes 0 --channel-errors 1", sim.FaultBounds{ChannelErrors: 1, Late: true}},
	{"lost", "--crashes 0 --lost 1", sim.FaultBounds{Lost: 1, Late: true}},
	{"restart", "--crashes 0 --restarts 1", sim.FaultBounds{Restarts: 1, Late: true}},
}

// Run compares locks. If ctx ends, the rows so far are valid. The error is for a real server that could not be used.
func Run(ctx context.Context, c Config) (*report.Comparison, error) {
	if c.Targets == nil {
		c.Targets = engine.References()
	}
	if c.Scenarios == 0 {
		c.Scenarios = DefaultScenarios
	}
	began := time.Now()
	out := &report.Comparison{
		Tool: engine.Version, Bounds: "2 clients and 1 slot", Scenarios: c.Scenarios, Seed: c.Seed, Of: len(c.Targets),
	}
	for _, f := range comparedFaults {
		out.Faults = append(out.Faults, f.name)
	}
	out.Faults = append(out.Faults, anyFaults)
	run := comparing{Config: c, left: c.Time, searches: len(c.Targets) * len(comparedFaults)}
	for i, t := range c.Targets {
		if c.Progress != nil {
			c.Progress(i, len(c.Targets), t)
		}
		row, err := run.lock(ctx, t)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return out, fmt.Errorf("comparing %s: %w", t.Name, err)
		}
		out.Rows = append(out.Rows, *row)
	}
	out.Elapsed, out.Interrupted = time.Since(began), ctx.Err() != nil
	return out, nil
}

// comparing is a comparison in progress.
type comparing struct {
	Config
	left     time.Duration // time left for the remaining searches
	searches int           // number of remaining searches
}

func (c *comparing) lock(ctx context.Context, t *lock.Target) (*report.ComparedLock, error) {
	row := &report.ComparedLock{Target: t.Name, Doc: t.Doc, Kind: t.Kind, Server: lock.BackendOf(t).Title}
	for i := range comparedFaults {
		row.Faults = append(row.Faults, c.visit(ctx, t, i))
	}
	drawn, err := sample.Prove(ctx, sample.Config{
		Target: t, Options: defaultsOf(t), Sampling: engine.Sampling{Seed: c.Seed, Scenarios: c.Scenarios, Workers: c.Workers, Time: c.Time},
	})
	if err != nil {
		return nil, err
	}
	row.Cost, row.Stale = drawn.Report.Efficiency, drawn.Report.Stale
	row.Faults = append(row.Faults, report.FaultVerdicts{
		Fault: anyFaults, Verdicts: judgedIn(drawn.Report), Command: fmt.Sprintf("lockproof prove %s --scenarios %d --seed %d", t.Name, c.Scenarios, c.Seed),
	})
	if c.Measure == nil {
		return row, nil
	}
	row.Real, row.NotMeasured, err = c.Measure(ctx, t)
	return row, err
}

// defaultsOf returns the default values of all options of a target, so that none of them is drawn.
func defaultsOf(t *lock.Target) (fixed [][2]string) {
	def := t.Settled(lock.BackendOf(t).Defaults)
	for _, o := range def.Table() {
		fixed = append(fixed, [2]string{o.Name, def.Value(o.Name)})
	}
	return fixed
}

// anyFaults is the name of the column for drawn executions.
const anyFaults = "drawn"

// visit explores every execution of a lock with one fault of a kind. It stops early if its share of the time is over.
func (c *comparing) visit(ctx context.Context, t *lock.Target, kind int) report.FaultVerdicts {
	fault := &comparedFaults[kind]
	out := report.FaultVerdicts{
		Fault: fault.name, Command: fmt.Sprintf("lockproof explore %s --slots 1 --admins 0 %s", t.Name, fault.flags),
	}
	began := time.Now()
	if c.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.left/time.Duration(c.searches))
		defer cancel()
	}
	x, err := explore.Run(ctx, explore.Exploration{
		Target: t, Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1, Faults: fault.bounds}, Brief: true,
		Search: search.Options{Workers: c.Workers, Memory: compareMemory},
	})
	c.searches--
	c.left = max(0, c.left-time.Since(began))
	if err != nil {
		out.Cut = "could not be visited: " + err.Error()
		return out
	}
	out.States, out.Verdicts = x.Report.Space.States, judgedIn(x.Report)
	switch {
	case x.Report.Interrupted:
		out.Cut = "not wholly visited: there was no time for more"
	case x.Report.Space.Cut != "":
		out.Cut = "not wholly visited: " + x.Report.Space.Cut
	}
	return out
}

// judgedIn returns the verdicts on the properties that were judged.
func judgedIn(r *report.Report) (out []report.PropertyVerdict) {
	for i := range r.Properties {
		p := &r.Properties[i]
		if v, _ := r.Verdict(p); v != report.Skipped {
			out = append(out, report.PropertyVerdict{Property: p.Property, Verdict: v})
		}
	}
	return out
}
