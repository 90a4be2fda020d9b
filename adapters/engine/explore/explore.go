package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
	"github.com/lockproof/lockproof/sim/search/anynumber"
	"github.com/lockproof/lockproof/sim/shrink"
)

// Workload says which clients call which operations, on which locks, and which faults may occur.
type Workload struct {
	// Clients is the number of clients. Each calls the operations of Calls in Rounds rounds. Admins is the number of
	// administrators. Each calls the operations of AdminCalls. If Clients or Admins is [AnyNumber], each of them
	// repeats its calls forever, whatever Rounds is, and the number of faults may be unbounded as well. Slots is the
	// initial number of slots.
	Clients, Rounds, Admins, Slots int
	// Start is the initial set of a semaphore's slots; 0 means the slots 1 to Slots. If Start has gaps, for example
	// slots 1 and 3, linearizability is not judged.
	Start scenario.SlotSet
	// Names are the names of the locks; empty means one lock called jobs. With two locks, clients and administrators
	// use them alternately.
	Names []string
	// Calls are the operations of each client, and AdminCalls those of each administrator. nil means [DefaultCalls].
	Calls, AdminCalls []scenario.Operation
	// Faults limits the number of faults of each kind in one execution. A fault may occur at any step.
	Faults sim.FaultBounds
}

// Exploration says which executions of a lock to visit.
type Exploration struct {
	// Target is the lock to judge; nil means the reference semaphore.
	Target *lock.Target
	// Options are the options to change from their defaults, by name and value.
	Options [][2]string
	Workload
	engine.Judging
	// From, if not nil, is an execution of Target in which the exploration begins: in the state after its first After
	// steps. Its options, locks and clients are used. The clients continue with their remaining operations. If Calls
	// and AdminCalls are given, the clients call these instead.
	From  *scenario.Scenario
	After int
	// InTurn, if not nil, replaces AdminCalls. Administrator i, counted from 0, calls the operations in
	// InTurn[i%len(InTurn)].
	InTurn [][]scenario.Operation
	// MostSlots limits the number of slots that exist at once, for any number of clients. Steps that exceed it are not
	// followed; if there are such steps, no property is proved. 0 means the initial slots plus the slots that each
	// administrator adds by calling its operations once.
	MostSlots int
	Search    search.Options
	// ViewsProgress is called about once a second during a search for any number of clients. It may be nil.
	ViewsProgress func(*anynumber.Stats)
	// Brief returns violating executions as the search found them, without shortening them. With any number of clients,
	// it also skips the search for the cut-off.
	Brief bool
	// Walks is the number of random executions to visit, drawn from Seed. 0 means that all executions are visited.
	Walks int
	Seed  uint64
}

// DefaultCalls returns the default operations of a client and of an administrator for a lock type. The client uses the
// lock, and the administrator makes the smallest change that can do harm.
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

// Administered reports whether a target has operations for administrators, for example to add slots.
func Administered(t *lock.Target) bool {
	return slices.ContainsFunc(t.Operations(), lock.Op.Administrative)
}

// withoutAdministration returns the name of a lock without administrators, for an error: "a mutex", or the target's
// name.
func withoutAdministration(t *lock.Target) string {
	if t.Kind == lock.Mutex {
		return "a mutex"
	}
	return t.Name
}

// Explored is the result of an exploration.
type Explored struct {
	engine.Result
	// Search is the result of the search. It is nil for random executions and for any number of clients.
	Search *search.Result
	// Unsaved is the error of writing the last checkpoint, or nil.
	Unsaved error
	// Least contains the properties whose counterexample is proved minimal: no execution within the bounds, with at
	// most these slots and calls, violates the property in fewer steps.
	Least property.Set

	judgedAlone int          // number of histories that were checked for linearizability
	seen        property.Set // all violated properties, including custom ones
}

// Lost returns the verdict on a violated property.
func (x *Explored) Lost(p property.Property) report.AtlasVerdict {
	t := x.Traces[p]
	v, _ := t.Violation(p)
	return report.AtlasVerdict{
		Property: p, Verdict: report.Violated, Steps: len(t.Steps), Least: x.Least.Has(p), Detail: v.Explain(), Trace: t,
	}
}

// Run visits and judges every execution of a configuration. For each violated property it finds a short execution, and
// the shortest one if that can be determined. The error is for an invalid configuration.
func Run(ctx context.Context, e Exploration) (*Explored, error) {
	began := time.Now()
	if e.Target != nil {
		e.Options = lock.Renamed(lock.BackendOf(e.Target).Defaults, e.Options)
	}
	if e.any() && len(e.Own) > 0 {
		return nil, engine.Configuration(fmt.Errorf("properties of your own and any number of clients: expected a number of them, as such a property is judged of states"))
	}
	if s := &e.Search; len(e.Own) > 0 && (s.Checkpoint != "" || s.Resume != "") {
		return nil, engine.Configuration(fmt.Errorf("properties of your own and a checkpoint: expected none, as a file cannot tell whether the function is still the same"))
	}
	if e.any() {
		x, err := exploreAny(ctx, &e)
		if err == nil {
			x.Report.Elapsed = time.Since(began)
		}
		return x, err
	}
	b, err := e.Bounds()
	if err != nil {
		return nil, engine.Configuration(err)
	}
	x := &Explored{Result: engine.Result{
		Traces: make(map[property.Property]*scenario.Trace), Labels: engine.Labels{FailedAcquire: e.FailedAcquire, Origin: e.origin()},
	}}
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

// visit visits all states, and makes counterexamples of the violations.
func (x *Explored) visit(ctx context.Context, e *Exploration, b *sim.Bounds) error {
	x.Search = search.Run(ctx, *b, e.Search)
	if x.Search.Stop == search.Refused {
		return x.Search.Err
	}
	if err := b.Own.Err(); err != nil {
		return err
	}
	x.seen = x.Search.Found
	x.Unsaved = x.Search.Err
	want := x.Search.Found &^ b.Own.Sometimes()
	if x.Search.Unwitnessed > 0 {
		want = want.With(property.Linearizable)
	}
	if want != 0 && (e.Brief || e.From != nil) { // the steps of From must stay, so nothing is shortened
		x.asFound(b, x.trails(ctx, e, b, want))
	} else if want != 0 {
		if err := x.shorten(ctx, b, x.trails(ctx, e, b, want)); err != nil {
			return err
		}
		if !e.Search.First {
			if err := x.least(ctx, b); err != nil {
				return err
			}
		}
	}
	if err := x.goRound(b); err != nil {
		return err
	}
	x.Report = e.report(b, x)
	return nil
}

// trails returns executions that violate the properties of want. It computes them even if ctx has ended, because
// otherwise the search's results would be lost. This takes at most as long as the search takes with one worker.
func (x *Explored) trails(ctx context.Context, e *Exploration, b *sim.Bounds, want property.Set) map[property.Property][]scenario.Action {
	trails, judged := search.Counterexamples(ctx, *b, e.Search.Reductions, want, illegal(b))
	x.judgedAlone = judged
	left := want & x.Search.Found
	for p := range trails {
		left &^= 1 << p
	}
	if left != 0 && ctx.Err() != nil {
		found, _ := search.Counterexamples(context.WithoutCancel(ctx), *b, e.Search.Reductions, left, illegal(b))
		maps.Copy(trails, found)
	}
	return trails
}

// sample visits random executions, and makes counterexamples of the violations.
func (x *Explored) sample(ctx context.Context, e *Exploration, b *sim.Bounds) error {
	w := search.Walk(ctx, *b, search.WalkOptions{Seed: e.Seed, Walks: e.Walks, Workers: e.Search.Workers, Illegal: illegal(b)})
	x.judgedAlone, x.seen = int(w.Judged), w.Found
	for p := range b.Own.Sometimes().All() {
		delete(w.First, p)
	}
	if err := b.Own.Err(); err != nil {
		return err
	}
	if err := x.shorten(ctx, b, w.First); err != nil {
		return err
	}
	x.Report = e.sampled(b, x, w)
	x.Report.Interrupted = ctx.Err() != nil
	return nil
}

// Bounds returns the configuration with defaults filled in, after checking it.
func (e *Exploration) Bounds() (sim.Bounds, error) {
	if e.Target == nil {
		e.Target = engine.Reference(lock.Semaphore)
	}
	b := sim.Bounds{
		Target: e.Target, Faults: e.Faults, FailedAcquire: e.FailedAcquire,
		Properties: e.Properties & property.Of(e.Target), Own: e.Own,
	}
	if e.Properties == 0 {
		b.Properties = property.Of(e.Target)
	}
	b.Properties |= e.Own.All()
	if err := e.Own.Check(); err != nil {
		return b, err
	}
	if e.From != nil {
		if err := e.from(&b); err != nil {
			return b, err
		}
		return b, b.Check()
	}
	var err error
	if b.Options, err = engine.OptionsOf(e.Target, e.Options); err != nil {
		return b, err
	}
	switch {
	case e.Slots < 0 || e.Slots >= monitor.Slots:
		return b, fmt.Errorf("%d slots: expected 0 to %d", e.Slots, monitor.Slots-1)
	case e.Start != 0 && e.Target.Kind != lock.Semaphore:
		return b, fmt.Errorf("start slots %s: a %s has no slots to choose from", e.Start, e.Target.Kind)
	case e.Admins > 0 && !Administered(e.Target):
		return b, fmt.Errorf("%d administrators: %s has no administration", e.Admins, withoutAdministration(e.Target))
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
	switch e.Target.Kind {
	case lock.PersistentMutex:
		slots = min(slots, 1)
	case lock.Mutex: // a mutex has no queue for a slot, only one for its holder
		slots = 0
	}
	names := e.Names
	if len(names) == 0 {
		names = []string{"jobs"}
	}
	for i, name := range names {
		if err := lock.CheckName(name); err != nil {
			return err
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("two locks are called %s: expected names that differ", name)
		}
		l := scenario.Lock{Name: name, Slots: uint8(slots)}
		if e.Start != 0 {
			l = scenario.Begin(name, e.Start)
		}
		if l.Missing != 0 {
			b.Properties &^= 1 << property.Linearizable
		}
		b.Locks = append(b.Locks, l)
	}
	return nil
}

// from sets the bounds of an exploration that begins within the execution From. It returns an error if From does not
// fit the exploration, for example because it is an execution of another target.
func (e *Exploration) from(b *sim.Bounds) error {
	s := e.From.Clone()
	switch n := len(s.Schedule.Actions); {
	case s.Target != e.Target.Name:
		return fmt.Errorf("an execution of %s to begin in, and target %s: expected the same", s.Target, e.Target.Name)
	case e.After < 0 || e.After > n:
		return fmt.Errorf("step %d to begin after: expected 0 to %d, which is how many the execution has", e.After, n)
	case len(e.Options) > 0 || e.Start != 0 || len(e.Names) > 0:
		return errors.New("an execution to begin in, and options, slots or names of locks: expected none, as they are the execution's")
	}
	s.Schedule.Actions = s.Schedule.Actions[:e.After]
	s.Schedule.Before = 0
	var r sim.Runner
	if n := r.Run(e.Target, &s); n < e.After {
		return fmt.Errorf("step %d to begin after: expected an execution of %s, of which only %d steps can be carried out", e.After, s.Target, n)
	}
	b.Before, b.Options, b.Locks = s.Schedule.Actions, e.Target.Settled(s.Options), s.Locks
	b.Properties &^= 1 << property.Linearizable
	for i, c := range s.Clients {
		calls := e.Calls
		if slices.ContainsFunc(c.Ops, func(o scenario.Operation) bool { return o.Op.Administrative() }) {
			calls = e.AdminCalls
		}
		if n := uint8(i + 1); calls != nil && !r.Dead(n) {
			c.Ops = append(c.Ops[:r.Begun(n)], slices.Repeat(calls, e.Rounds)...)
		}
		b.Clients = append(b.Clients, c)
	}
	return nil
}

// Called returns the operations of a client and of an administrator: the configured ones, or the defaults.
func (e *Exploration) Called() (client, admin []scenario.Operation) {
	client, admin = DefaultCalls(e.Target.Kind)
	if e.Target.Traits.Has(lock.Leases) {
		client = slices.Insert(client, 2, scenario.Operation{Op: lock.Refresh})
	}
	missing := func(o scenario.Operation) bool { return !slices.Contains(e.Target.Operations(), o.Op) }
	client, admin = slices.DeleteFunc(client, missing), slices.DeleteFunc(admin, missing)
	if e.Calls != nil {
		client = e.Calls
	}
	if e.AdminCalls != nil {
		admin = e.AdminCalls
	}
	return client, admin
}

func (e *Exploration) workload(b *sim.Bounds) {
	calls, admin := e.Called()
	for i := range e.Clients {
		b.Clients = append(b.Clients, scenario.Client{Lock: i % len(b.Locks), Ops: slices.Repeat(calls, e.Rounds)})
	}
	for i := range e.Admins {
		if len(e.InTurn) > 0 {
			admin = e.InTurn[i%len(e.InTurn)]
		}
		b.Clients = append(b.Clients, scenario.Client{Lock: i % len(b.Locks), Ops: admin})
	}
}

// illegal returns a function that checks whether the history of an execution violates linearizability.
func illegal(b *sim.Bounds) func([]scenario.Action) bool {
	r := sim.NewRunner(b.Own)
	return func(actions []scenario.Action) bool {
		s := replaying(b, actions)
		r.Run(b.Target, &s)
		found, _ := r.Judge(b.FailedAcquire)
		return found.Has(property.Linearizable)
	}
}

// shorten turns violating executions into counterexamples, as short as possible.
func (x *Explored) shorten(ctx context.Context, b *sim.Bounds, trails map[property.Property][]scenario.Action) error {
	r := sim.NewRunner(b.Own)
	for p, actions := range trails {
		t, err := shortened(ctx, r, b, p, actions)
		if err != nil {
			return err
		}
		x.Traces[p] = t
	}
	return nil
}

// asFound turns violating executions into counterexamples without shortening them.
func (x *Explored) asFound(b *sim.Bounds, trails map[property.Property][]scenario.Action) {
	r := sim.NewRunner(b.Own)
	for p, actions := range trails {
		s := replaying(b, actions)
		x.Traces[p] = r.Trace(b.Target, &s, b.FailedAcquire)
	}
}

// shortened returns the shortest counterexample found by minimising an execution that violates p.
func shortened(ctx context.Context, r *sim.Runner, b *sim.Bounds, p property.Property, actions []scenario.Action) (*scenario.Trace, error) {
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
		if p.Own() && (!slices.Equal(s.Locks, b.Locks) || len(s.Clients) != len(b.Clients)) {
			return nil, false // a custom property may need the same locks and the same number of clients
		}
		return sim.Violating(r.Trace(b.Target, s, b.FailedAcquire), p)
	}
	least := shrink.Minimise(ctx, replaying(b, actions), attempt, func(string) bool { return false }, engine.MinimisingTries)
	t := r.Trace(b.Target, &least, b.FailedAcquire)
	if _, shown := t.Violation(p); !shown && p.Own() {
		b.Own.Contradicted(p)
		return nil, b.Own.Err()
	} else if !shown {
		return nil, fmt.Errorf("exploring %s: an execution of %d actions violates %s in the search and not when it is replayed: this is a fault of lockproof; please report it",
			b.Target.Name, len(actions), p)
	}
	return t, nil
}

// goRound makes a counterexample of an execution with an endless cycle. It repeats the cycle up to the maximum length
// of a scenario.
func (x *Explored) goRound(b *sim.Bounds) error {
	l := x.Search.Livelock
	if l == nil || !b.Properties.Has(property.Progress) || x.Traces[property.Progress] != nil {
		return nil
	}
	actions := slices.Clone(l.Prefix)
	for len(actions) < scenario.MaxSteps {
		actions = append(actions, l.Cycle...)
	}
	var r sim.Runner
	s := replaying(b, actions)
	t := r.Trace(b.Target, &s, b.FailedAcquire)
	if _, shown := t.Violation(property.Progress); !shown {
		return fmt.Errorf("exploring %s: a cycle of %d actions ends when it is replayed: this is a fault of lockproof; please report it", b.Target.Name, len(l.Cycle))
	}
	x.Traces[property.Progress] = t
	return nil
}

// replaying returns a scenario that repeats one execution within the bounds.
func replaying(b *sim.Bounds, actions []scenario.Action) scenario.Scenario {
	s := b.Scenario()
	s.Schedule.Actions = slices.Concat(b.Before, actions)
	return s
}

// report creates the report about an exploration.
func (e *Exploration) report(b *sim.Bounds, x *Explored) *report.Report {
	found := x.Search
	r := &report.Report{
		Tool: engine.Version, Target: b.Target.Name, Doc: b.Target.Doc, Kind: b.Target.Kind, Mode: report.Visited,
		Broker: engine.SimulatedOf(b.Target), FailedAcquire: e.FailedAcquire.String(), Bounds: e.Described(), Fixed: engine.Assigned(e.Options),
		Interrupted: found.Stop == search.Interrupted, Space: spaceOf(b, found),
	}
	r.Properties = x.judged(e, b, &found.Coverage, found.States, found.Unwitnessed)
	if p := r.Result(property.Progress); p != nil {
		p.Note = Cycling[found.Cycles]
	}
	return r
}

// judged returns the results of the properties. looked is the number of states or executions visited. unwitnessed is
// the number of executions for which the monitor constructed no linearization.
func (x *Explored) judged(e *Exploration, b *sim.Bounds, c *search.Coverage, looked, unwitnessed int64) (out []report.PropertyResult) {
	for p := range property.Property(property.Most) {
		if why := e.unjudged(b.Target.Kind, p); why != "" {
			out = append(out, report.PropertyResult{Property: p, Evidence: p.Evidence(), Skip: why})
		}
		if !b.Properties.Has(p) {
			continue
		}
		res := report.PropertyResult{Property: p, Own: b.Own.Of(p), Evidence: p.Evidence(), Violation: x.found(p)}
		if res.Own != nil {
			x.judgedOwn(&res, looked)
			out = append(out, res)
			continue
		}
		if c.Exercised.Has(p) || p == property.Linearizable {
			res.Checked = int(looked)
		}
		if p == property.Linearizable {
			res.Note, res.Undecided = b.FailedAcquire.Note(), int(unwitnessed)
			res.Unclear = fmt.Sprintf("no linearization was constructed for %s; of their histories, %d were judged", counted(int(unwitnessed), "operation"), x.judgedAlone)
		}
		out = append(out, res)
	}
	return append(out, engine.Omitted(b.Target, b.Properties)...)
}

// judgedOwn sets the result for a custom property. looked is the number of states or executions visited.
func (x *Explored) judgedOwn(res *report.PropertyResult, looked int64) {
	res.Checked = int(looked)
	switch {
	case res.Own.Asked():
		res.Violation = nil
		res.Skip = "its function asks for the history or the exchange, and a state of an exploration has neither: Prove judges it"
	case !res.Own.Sometimes:
	case x.seen.Has(res.Property):
		res.Note = "seen"
	case x.Search != nil && x.Search.Stop == search.Finished:
		res.Violation = &report.Found{Detail: fmt.Sprintf("not seen in any of %s, and there are no others within the bounds", counted(int(looked), "state"))}
	default:
		res.Undecided, res.Unclear = int(looked), "not seen so far"
	}
}

// midst explains why linearizability is not judged if an exploration begins within an execution.
const midst = "a history is judged from its beginning, and these begin in the midst of an execution"

// unjudged says why a requested property is not judged for a lock type; "" if it is judged.
func (e *Exploration) unjudged(kind lock.Kind, p property.Property) string {
	switch {
	case p != property.Linearizable || !engine.JudgedOf(property.Applicable(kind), e.Properties).Has(p):
		return ""
	case e.From != nil:
		return midst
	case scenario.Begin("", e.Start).Missing != 0:
		return engine.Holes
	}
	return ""
}

// Cycling says, for each result of the cycle search, whether executions end.
var Cycling = [...]string{
	search.CyclesUnknown: "whether every execution ends was not looked at",
	search.NoCycles:      "every execution ends",
	search.UnfairCycles:  "every fair execution ends",
	search.FairCycles:    "some execution never ends",
}

// found returns the violation of p for a report, or nil.
func (x *Explored) found(p property.Property) *report.Found {
	t := x.Traces[p]
	if t == nil {
		return nil
	}
	out := engine.FoundIn(t, p)
	out.Least = x.Least.Has(p)
	if x.Search != nil && p == property.Progress && len(t.Steps) >= scenario.MaxSteps {
		out.Detail += fmt.Sprintf(": after %d steps a cycle of %d goes round for ever", len(x.Search.Livelock.Prefix), len(x.Search.Livelock.Cycle))
	}
	return out
}

// sampled creates the report about random executions.
func (e *Exploration) sampled(b *sim.Bounds, x *Explored, w *search.Walked) *report.Report {
	return &report.Report{
		Tool: engine.Version, Target: b.Target.Name, Doc: b.Target.Doc, Kind: b.Target.Kind, Mode: report.Sampled, Seed: e.Seed,
		Broker: engine.SimulatedOf(b.Target), FailedAcquire: e.FailedAcquire.String(), Bounds: e.Described(), Fixed: engine.Assigned(e.Options), Scenarios: int(w.Walks), Steps: int(w.Steps),
		Properties: x.judged(e, b, &w.Coverage, w.Walks, w.Unwitnessed),
	}
}

// String describes the configuration, for example "2 clients, 1 round, 1 slot, no faults".
func (e *Exploration) String() string {
	var out []string
	if e.From != nil {
		return fmt.Sprintf("what follows step %d of an execution of %s, %s", e.After, e.From.Target, e.Faults)
	}
	switch {
	case e.any():
		out = append(out, counted(e.Clients, "client"), counted(AnyNumber, "round"))
	case e.Clients > 0:
		out = append(out, counted(e.Clients, "client"), counted(e.Rounds, "round"))
	}
	if e.Admins != 0 {
		out = append(out, counted(e.Admins, "administrator"))
	}
	if slots := e.slots(); slots != "" {
		out = append(out, slots)
	}
	if e.MostSlots > 0 {
		out = append(out, "at most "+counted(e.MostSlots, "slot")+" at once")
	}
	return strings.Join(append(out, e.Faults.String()), ", ")
}

// slots describes the initial slots of each lock, for example "2 slots" or "not created yet".
func (e *Exploration) slots() string {
	kind := lock.Semaphore
	if e.Target != nil {
		kind = e.Target.Kind
	}
	switch {
	case e.Start != 0:
		return fmt.Sprintf("slots %s at first", e.Start)
	case kind == lock.Semaphore:
		return counted(e.Slots, "slot")
	case kind == lock.PersistentMutex && e.Slots == 0:
		return "not created yet"
	}
	return ""
}

// origin returns the data about the run that its counterexamples contain: server, bounds, options, and the seed of
// random executions.
func (e *Exploration) origin() histories.Origin {
	o := histories.Origin{Broker: engine.SimulatedOf(e.Target), Bounds: e.Described(), Options: engine.Assigned(e.Options)}
	if e.Walks > 0 {
		o.Seed = e.Seed
	}
	return o
}

// Described is String, followed by the calls and the names of locks if they are not the defaults.
func (e *Exploration) Described() string {
	var calls []string
	if e.Calls != nil && e.Clients > 0 {
		calls = append(calls, "clients call "+CallsFlag(e.Calls))
	}
	if e.AdminCalls != nil && e.Admins > 0 {
		calls = append(calls, "administrators call "+CallsFlag(e.AdminCalls))
	}
	if len(e.Names) > 0 {
		calls = append(calls, "locks "+strings.Join(e.Names, " and "))
	}
	if len(calls) == 0 {
		return e.String()
	}
	return e.String() + " (" + strings.Join(calls, "; ") + ")"
}

func counted(n int, what string) string {
	switch n {
	case 1:
		return "1 " + what
	case AnyNumber:
		return "any number of " + what + "s"
	}
	return fmt.Sprintf("%d %ss", n, what)
}
