package lockproof

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// Exploration says which configuration to visit every execution of, and how.
type Exploration struct {
	// Target is the lock to judge; nil is the reference semaphore.
	Target *lock.Target
	// Options are those that differ from the defaults, by name and value.
	Options [][2]string
	// Clients call the operations of Calls, so many Rounds of them; administrators those of AdminCalls.
	Clients, Rounds, Admins, Slots int
	// Names are the locks'; none is one lock called jobs. Where there are two, clients and
	// administrators use them in turn.
	Names []string
	// Calls and AdminCalls are what one client, or administrator, calls; nil is [DefaultCalls].
	Calls, AdminCalls []scenario.Operation
	Faults            sim.FaultBounds
	// Properties are those to judge; 0 is all that apply. The fewer they are, the fewer states there
	// are to tell apart.
	Properties spec.PropertySet
	Strength   spec.Strength
	Search     search.Options
	// Walks, where it is not 0, takes so many random executions instead of visiting all; Seed decides
	// them.
	Walks int
	Seed  uint64
}

// DefaultCalls is what a client and an administrator of a lock type call, unless something else is
// asked for: what a lock is for, and the smallest change that can do harm.
func DefaultCalls(k lock.Kind) (client, admin []scenario.Operation) {
	client = []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Release}}
	switch k {
	case lock.Semaphore:
		admin = []scenario.Operation{{Op: lock.Remove, Arg: 1}, {Op: lock.Add, Arg: 1}}
	case lock.PersistentMutex:
		admin = []scenario.Operation{{Op: lock.Destroy}, {Op: lock.Create, Arg: 1}}
	}
	return client, admin
}

// Explored is what an exploration came to.
type Explored struct {
	Result
	Search *search.Result // nil where executions were sampled
}

// Explore visits every execution of a configuration, judges every one, and finds the shortest that
// violate something. The error is for a configuration that makes no sense.
func Explore(ctx context.Context, e Exploration) (*Explored, error) {
	b, err := e.Bounds()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	x := &Explored{Result: Result{Strength: e.Strength, Traces: make(map[spec.Property]*scenario.Trace)}}
	if e.Walks > 0 {
		err = x.sample(ctx, &e, &b)
	} else {
		err = x.visit(ctx, &e, &b)
	}
	if err != nil {
		return nil, err
	}
	x.Report.Elapsed = time.Since(began)
	return x, nil
}

// visit visits everything.
func (x *Explored) visit(ctx context.Context, e *Exploration, b *sim.Bounds) error {
	x.Search = search.Run(ctx, *b, e.Search)
	if x.Search.Err != nil {
		return x.Search.Err
	}
	want := x.Search.Found
	if x.Search.Doubted > 0 {
		want = want.With(spec.Linearizable)
	}
	if want != 0 {
		trails, _ := search.Trails(ctx, *b, e.Search.Reductions, want, illegal(b))
		if err := x.shorten(b, trails); err != nil {
			return err
		}
	}
	if err := x.goRound(b); err != nil {
		return err
	}
	x.Report = e.report(b, x)
	return nil
}

// sample takes random executions.
func (x *Explored) sample(ctx context.Context, e *Exploration, b *sim.Bounds) error {
	w := search.Walk(ctx, *b, search.WalkOptions{Seed: e.Seed, Walks: e.Walks, Workers: e.Search.Workers})
	if err := x.shorten(b, w.First); err != nil {
		return err
	}
	x.Report = e.sampled(b, x, w)
	x.Report.Interrupted = ctx.Err() != nil
	return nil
}

// Bounds is the configuration, filled in and checked.
func (e *Exploration) Bounds() (sim.Bounds, error) {
	if e.Target == nil {
		e.Target = lock.References[0]
	}
	b := sim.Bounds{
		Target: e.Target, Options: lock.DefaultOptions(), Faults: e.Faults, Strength: e.Strength,
		Properties: e.Properties & spec.Applicable(e.Target.Kind),
	}
	if e.Properties == 0 {
		b.Properties = spec.Applicable(e.Target.Kind)
	}
	for _, o := range e.Options {
		if err := b.Options.Set(o[0], o[1]); err != nil {
			return b, err
		}
	}
	b.Options = e.Target.Settled(b.Options)
	switch {
	case e.Slots < 0 || e.Slots >= spec.Slots:
		return b, fmt.Errorf("%d slots: expected 0 to %d", e.Slots, spec.Slots-1)
	case e.Target.Kind == lock.Mutex && e.Admins > 0:
		return b, fmt.Errorf("%d administrators: a mutex has no administration", e.Admins)
	case e.Rounds < 1 || e.Clients < 0 || e.Admins < 0:
		return b, fmt.Errorf("%d clients, %d rounds, %d administrators: expected at least one round, and no negative numbers", e.Clients, e.Rounds, e.Admins)
	}
	if err := e.locks(&b); err != nil {
		return b, err
	}
	e.workload(&b)
	return b, b.Check()
}

func (e *Exploration) locks(b *sim.Bounds) error {
	slots := e.Slots
	if e.Target.Kind != lock.Semaphore {
		slots = min(slots, 1)
	}
	names := e.Names
	if len(names) == 0 {
		names = []string{"jobs"}
	}
	for _, name := range names {
		if err := lock.CheckName(name); err != nil {
			return err
		}
		b.Locks = append(b.Locks, scenario.Lock{Name: name, Slots: uint8(slots)})
	}
	return nil
}

// called is what a client and an administrator call: what is asked for, or the usual.
func (e *Exploration) called() (client, admin []scenario.Operation) {
	client, admin = DefaultCalls(e.Target.Kind)
	if e.Calls != nil {
		client = e.Calls
	}
	if e.AdminCalls != nil {
		admin = e.AdminCalls
	}
	return client, admin
}

func (e *Exploration) workload(b *sim.Bounds) {
	calls, admin := e.called()
	for i := range e.Clients {
		b.Clients = append(b.Clients, scenario.Client{Lock: i % len(b.Locks), Ops: slices.Repeat(calls, e.Rounds)})
	}
	for i := range e.Admins {
		b.Clients = append(b.Clients, scenario.Client{Lock: i % len(b.Locks), Ops: admin})
	}
}

// illegal judges the history of an execution by itself.
func illegal(b *sim.Bounds) func([]scenario.Action) bool {
	var r sim.Runner
	return func(actions []scenario.Action) bool {
		s := replaying(b, actions)
		r.Run(b.Target, &s)
		found, _ := r.Judge(b.Strength)
		return found.Has(spec.Linearizable)
	}
}

// shorten makes the shortest counterexamples it can of executions that violate something.
func (x *Explored) shorten(b *sim.Bounds, trails map[spec.Property][]scenario.Action) error {
	var r sim.Runner
	for p, actions := range trails {
		attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
			return sim.Violating(r.Trace(b.Target, s, b.Strength), p)
		}
		least := histories.Minimise(replaying(b, actions), attempt, func(string) bool { return false }, minimisingTries)
		x.Traces[p] = r.Trace(b.Target, &least, b.Strength)
		if _, shown := violationOf(x.Traces[p], p); !shown {
			return fmt.Errorf("exploring %s: an execution of %d actions violates %s in the search and not when it is replayed: this is a fault of lockproof; please report it",
				b.Target.Name, len(actions), p)
		}
	}
	return nil
}

// goRound makes a counterexample of an execution that goes round in a cycle for ever: round and round,
// until it is long enough for anybody to see that it does not end.
func (x *Explored) goRound(b *sim.Bounds) error {
	l := x.Search.Livelock
	if l == nil || !b.Properties.Has(spec.Progress) || x.Traces[spec.Progress] != nil {
		return nil
	}
	actions := slices.Clone(l.Prefix)
	for len(actions) < scenario.MaxSteps {
		actions = append(actions, l.Cycle...)
	}
	var r sim.Runner
	s := replaying(b, actions)
	t := r.Trace(b.Target, &s, b.Strength)
	if _, shown := violationOf(t, spec.Progress); !shown {
		return fmt.Errorf("exploring %s: a cycle of %d actions ends when it is replayed: this is a fault of lockproof; please report it", b.Target.Name, len(l.Cycle))
	}
	x.Traces[spec.Progress] = t
	return nil
}

// replaying is the bounds with one execution.
func replaying(b *sim.Bounds, actions []scenario.Action) scenario.Scenario {
	s := b.Scenario()
	s.Schedule.Actions = actions
	return s
}

// report says what an exploration came to.
func (e *Exploration) report(b *sim.Bounds, x *Explored) *histories.Report {
	found := x.Search
	r := &histories.Report{
		Tool: Version, Target: b.Target.Name, Doc: b.Target.Doc, Kind: b.Target.Kind, Mode: histories.Visited,
		Broker: "the simulated broker", Strength: e.Strength.String(), Bounds: e.String(),
		Interrupted: found.Stop == search.Interrupted, Space: spaceOf(b, found),
	}
	r.Properties = x.judged(b, &found.Coverage, found.States, found.Doubted)
	if p := r.Result(spec.Progress); p != nil {
		p.Note = cycling[found.Cycles]
	}
	return r
}

// judged are the properties and what was found out about each, by looking at so many states or
// executions.
func (x *Explored) judged(b *sim.Bounds, c *search.Coverage, looked, doubted int64) (out []histories.PropertyResult) {
	for p := range spec.PropertyCount {
		if !b.Properties.Has(p) {
			continue
		}
		res := histories.PropertyResult{Property: p, Evidence: spec.Properties[p].Evidence, Violation: x.found(p)}
		if c.Exercised.Has(p) || p == spec.Linearizable {
			res.Checked = int(looked)
		}
		if p == spec.Linearizable {
			res.Note, res.Undecided = b.Strength.String(), int(doubted)
		}
		out = append(out, res)
	}
	return out
}

// cycling says what is known of executions that do not end.
var cycling = [...]string{
	search.CyclesUnknown: "whether every execution ends was not looked at",
	search.NoCycles:      "every execution ends",
	search.UnfairCycles:  "every fair execution ends",
	search.FairCycles:    "some execution never ends",
}

// found is a violation as the report tells of it, or nil.
func (x *Explored) found(p spec.Property) *histories.Found {
	t := x.Traces[p]
	if t == nil {
		return nil
	}
	v, _ := violationOf(t, p)
	out := &histories.Found{Steps: len(t.Steps), Detail: v.Explain(), Diagram: drawn(t)}
	if x.Search != nil && p == spec.Progress && len(t.Steps) >= scenario.MaxSteps {
		out.Detail += fmt.Sprintf(": after %d steps a cycle of %d goes round for ever", len(x.Search.Livelock.Prefix), len(x.Search.Livelock.Cycle))
	}
	return out
}

// sampled says what random executions came to.
func (e *Exploration) sampled(b *sim.Bounds, x *Explored, w *search.Walked) *histories.Report {
	return &histories.Report{
		Tool: Version, Target: b.Target.Name, Doc: b.Target.Doc, Kind: b.Target.Kind, Mode: histories.Sampled, Seed: e.Seed,
		Broker: "the simulated broker, of " + e.String(), Strength: e.Strength.String(), Scenarios: int(w.Walks), Steps: int(w.Steps),
		Properties: x.judged(b, &w.Coverage, w.Walks, w.Doubted),
	}
}

// String is the configuration in words.
func (e *Exploration) String() string {
	var out []string
	if e.Clients > 0 {
		out = append(out, counted(e.Clients, "client"), counted(e.Rounds, "round"))
	}
	if e.Admins > 0 {
		out = append(out, counted(e.Admins, "administrator"))
	}
	return strings.Join(append(out, counted(e.Slots, "slot"), e.Faults.String()), ", ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
