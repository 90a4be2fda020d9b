package gated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/orders"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// ExploreConfig says which lock to explore, and which executions. Starter, Rounds, and Clients or Admins are required.
// The server is started by lockproof. Operations that the target does not offer are omitted. Restarts are not supported
// as faults. Violations of custom properties are found, but custom properties are never proved.
type ExploreConfig struct {
	Lock
	explore.Workload
	engine.Judging
	// Preemptions is the maximum number of switches away from a client that could continue. nil means no limit; then
	// one execution of each equivalence class is visited.
	Preemptions *int
	// Executions is the maximum number of executions; 0 means [DefaultExecutions].
	Executions int
	// First ends the exploration at the first execution that violates a property.
	First bool
	// Found is called with each violation; see [Config.Found].
	Found func(*histories.Counterexample)
	// Progress is called after every execution. It may be nil.
	Progress func(engine.Progress)
}

// DefaultExecutions is the default maximum number of executions of an exploration.
const DefaultExecutions = 10_000

// Explore visits the orders in which the commands of external clients can reach the server, and judges each. It visits
// one execution per equivalence class (dynamic partial order reduction). Clients' states cannot be stored, so each
// execution runs from its beginning.
//
// A property that holds in all executions is proved if the report's Runs is complete; otherwise it has passed. The
// proof holds for this workload, with a fault at any step, and for deterministic clients: those that do the same
// whenever they receive the same replies. A client that is not deterministic is noticed only if an execution begins
// like an earlier one. Clients that can wait for a lock are never asked to wait; the report's Runs says so.
//
// It returns an error if the configuration is invalid, or if a client cannot be started or breaks the protocol.
func Explore(ctx context.Context, c ExploreConfig) (_ *engine.Result, err error) {
	e := c.exploration()
	bounds, err := e.Bounds()
	if err != nil {
		return nil, engine.Configuration(err)
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	began := time.Now()
	run := exploringRun{sharedRun: sharedRun{Config: c.config(), exploring: true}}
	run.sum.Sometimes = c.Own.Sometimes()
	run.options = orders.Options{Runs: run.Scenarios, Faults: c.Faults, Preemptions: c.Preemptions}
	run.labels = run.Config.labels()
	run.labels.Origin.Bounds = e.Described()
	var cancel context.CancelFunc
	run.allowed, cancel = engine.Allow(ctx, 0)
	defer cancel()
	w, err := run.startWorker(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.runner.Close()) }()
	sc := w.runner.Playable(bounds.Scenario())
	for i := range sc.Clients {
		run.extends = run.extends || slices.ContainsFunc(sc.Clients[i].Ops, func(o scenario.Operation) bool { return o.Op == lock.Refresh })
	}
	if err := run.visit(ctx, w, sc); err != nil {
		return nil, err
	}
	res := run.result()
	res.Report = run.report()
	res.Report.Bounds = run.bounds(&e, &sc)
	run.spent = w.runner.Spent()
	res.Report.Elapsed, res.Report.Spent = time.Since(began), run.spent.Words()
	res.Report.Interrupted = ctx.Err() != nil
	return res, nil
}

// check rejects configurations that are invalid for external clients.
func (c *ExploreConfig) check() error {
	if err := withoutHoles(c.Start); err != nil {
		return err
	}
	switch f := c.Faults; {
	case c.Executions < 0:
		return fmt.Errorf("%d executions: expected at least 1", c.Executions)
	case f.Restarts != 0:
		return engine.Configuration(errors.New("restarts in an exploration of an external lock: expected none, prove draws them"))
	case c.On.Servers > 1:
		return engine.Configuration(fmt.Errorf("an exploration of an external lock on %d servers: expected one, prove draws executions on several", c.On.Servers))
	case f.Lapses != 0 && c.On.meaningless() == 0:
		return engine.Configuration(errors.New("the end of leases in an exploration of an external lock on a broker: expected none, it has no leases"))
	case min(f.Lapses, f.Crashes, f.Drops, f.ChannelErrors, f.Lost) < 0:
		return engine.Configuration(errors.New("any number of faults in an exploration of an external lock: expected a number"))
	case c.Preemptions != nil && *c.Preemptions < 0:
		return engine.Configuration(fmt.Errorf("%d preemptions: expected at least 0", *c.Preemptions))
	}
	return nil
}

// exploration returns the same configuration for a reference lock of this module with the same type.
func (c *ExploreConfig) exploration() explore.Exploration {
	return explore.Exploration{
		Target: engine.Reference(c.Kind), Workload: c.Workload, Judging: engine.Judging{FailedAcquire: c.FailedAcquire},
	}
}

// config returns the configuration of the run that executes the explored orders.
func (c *ExploreConfig) config() Config {
	out := Config{
		Lock: c.Lock, Judging: c.Judging, Found: c.Found, Progress: c.Progress,
		Sampling: engine.Sampling{Shape: sim.Shape{Start: c.Start}, Scenarios: cmp.Or(c.Executions, DefaultExecutions)},
	}
	out.Properties = judgedOf(c.Kind, c.Properties)&^c.On.meaningless() | c.Own.All()
	if c.First {
		out.Until = out.Properties
	}
	return out
}

// exploringRun is a run that visits the executions of one scenario.
type exploringRun struct {
	sharedRun
	runs    *orders.Exploration
	options orders.Options
	extends bool // some client extends a lease
	audited int  // number of executions whose end was audited
}

// errEnough stops an exploration at the first violation. It is not returned to the caller.
var errEnough = errors.New("enough was seen")

// visit runs the explored executions of a scenario, and minimises those that violate a property.
func (f *exploringRun) visit(ctx context.Context, w *worker, sc scenario.Scenario) (err error) {
	f.runs, err = w.runner.Explore(ctx, sc, f.options, func(x *foreign.Execution) error {
		if x.Audited {
			f.audited++
		}
		if err := w.examine(ctx, f.sum.Scenarios, x); err != nil || !f.stop.Load() {
			return err
		}
		return errEnough
	})
	f.measured(w)
	if err == errEnough {
		f.runs.Incomplete, err = cmp.Or(f.runs.Incomplete, "it ended at the first violation"), nil
	}
	if ctx.Err() != nil {
		f.runs.Incomplete = cmp.Or(f.runs.Incomplete, "it was interrupted")
		return nil
	}
	if err != nil {
		return err
	}
	w.meet() // the executions may have shown that clients share a connection
	return f.shrink(ctx, []*worker{w})
}

// report creates the report about the exploration.
func (f *exploringRun) report() *report.Report {
	r := f.sharedRun.report()
	r.Mode = report.Visited
	r.Runs = &report.Runs{Whole: f.runs.Runs, Blocked: f.runs.Blocked, Audited: f.audited, Incomplete: f.runs.Incomplete, Preemptions: f.options.Preemptions, NotExplored: f.notExplored()}
	if f.runs.Incomplete == "" { // no execution was cut off
		if p := r.Result(property.Progress); p != nil {
			p.Note = explore.Cycling[search.NoCycles]
		}
	}
	return r
}

// notExplored lists the features of the clients that the exploration did not use. Clients do not wait for a lock,
// because the end of a waiting time is not a step of an exploration. They acquire one permit, not several, and not for
// reading. They extend leases only if their calls contain the operation refresh.
func (f *exploringRun) notExplored() []string {
	var left []string
	for _, one := range []struct {
		left bool
		what string
	}{
		{f.about.Waits, "acquires that wait with a deadline"},
		{f.about.Modes, "acquires to read"},
		{f.about.Permits, "acquires of several permits"},
		{f.about.Leases && f.options.Faults.Lapses == 0, "executions in which a lease ends"},
		{slices.Contains(f.about.Operations, lock.Refresh) && !f.extends, "extensions of leases"},
	} {
		if one.left {
			left = append(left, one.what)
		}
	}
	return left
}

// bounds describes the configuration that was explored. If the exploration is complete, it also says which orders this
// covers.
func (f *exploringRun) bounds(e *explore.Exploration, sc *scenario.Scenario) string {
	calls := workload(sc)
	if left := f.notExplored(); left != nil {
		calls += fmt.Sprintf("; %s were not explored", strings.Join(left, " and "))
	}
	said := fmt.Sprintf("%s (%s)", e, calls)
	if f.runs.Incomplete != "" {
		return said
	}
	orders := ": up to equivalence, and for clients that do the same whenever they are told the same, every order of these commands"
	if n := f.options.Preemptions; n != nil {
		orders = fmt.Sprintf(": for clients that do the same whenever they are told the same, every order of these commands"+
			" that turns at most %s from a client that could go on", times(*n))
	}
	return said + orders + everyFault(f.options.Faults)
}

// times is n as "once" or "n times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// everyFault describes the visited faults; "" if there are none.
func everyFault(f sim.FaultBounds) string {
	var all []string
	for _, k := range []struct {
		n   int
		one string
	}{{f.Crashes, "crash"}, {f.Drops, "dropped connection"}, {f.ChannelErrors, "channel error"}, {f.Lost, "lost reply"}, {f.Lapses, "end of all leases"}} {
		switch {
		case k.n == 1:
			all = append(all, "every single "+k.one)
		case k.n > 1:
			all = append(all, fmt.Sprintf("every %s of up to %d", k.one, k.n))
		}
	}
	if len(all) == 0 {
		return ""
	}
	said := ", and of its clients " + strings.Join(all, " and ")
	if f.Late && f.Crashes+f.Lost > 0 {
		said += ", whenever the server notices"
	}
	return said
}

// workload lists the calls of each client and administrator, for example "c1: acquire release; c2: acquire".
func workload(sc *scenario.Scenario) string {
	var calls []string
	for i, c := range sc.Clients {
		said := fmt.Sprintf("c%d:", i+1)
		for _, op := range c.Ops {
			said += " " + op.Op.String()
			if op.Arg > 0 {
				said += fmt.Sprintf(" %d", op.Arg)
			}
		}
		calls = append(calls, said)
	}
	return strings.Join(calls, "; ")
}
