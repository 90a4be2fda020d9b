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
	Search *search.Result
}

// Explore visits every execution of a configuration, judges every one, and finds the shortest that
// violate something. The error is for a configuration that makes no sense.
func Explore(ctx context.Context, e Exploration) (*Explored, error) {
	b, err := e.Bounds()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	found := search.Run(ctx, b, e.Search)
	out := &Explored{Search: found, Result: Result{Strength: e.Strength, Traces: make(map[spec.Property]*scenario.Trace)}}
	if err := out.trace(ctx, &b, e.Search.Reductions); err != nil {
		return nil, err
	}
	out.Report = e.report(&b, out)
	out.Report.Elapsed = time.Since(began)
	return out, nil
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

func (e *Exploration) workload(b *sim.Bounds) {
	calls, admin := DefaultCalls(e.Target.Kind)
	if e.Calls != nil {
		calls = e.Calls
	}
	if e.AdminCalls != nil {
		admin = e.AdminCalls
	}
	for i := range e.Clients {
		b.Clients = append(b.Clients, scenario.Client{Lock: i % len(b.Locks), Ops: slices.Repeat(calls, e.Rounds)})
	}
	for i := range e.Admins {
		b.Clients = append(b.Clients, scenario.Client{Lock: i % len(b.Locks), Ops: admin})
	}
}

// trace finds a short execution for each property that is violated, and judges histories one by one
// where the executions are not their own witnesses.
func (x *Explored) trace(ctx context.Context, b *sim.Bounds, red search.Reductions) error {
	want := x.Search.Found
	if x.Search.Doubted > 0 {
		want = want.With(spec.Linearizable)
	}
	if want == 0 {
		return nil
	}
	var r sim.Runner
	illegal := func(actions []scenario.Action) bool {
		s := replaying(b, actions)
		r.Run(b.Target, &s)
		found, _ := r.Judge(b.Strength)
		return found.Has(spec.Linearizable)
	}
	trails, _ := search.Trails(ctx, *b, red, want, illegal)
	for p, actions := range trails {
		s := replaying(b, actions)
		attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
			return sim.Violating(r.Trace(b.Target, s, b.Strength), p)
		}
		least := histories.Minimise(s, attempt, func(string) bool { return false }, minimisingTries)
		x.Traces[p] = r.Trace(b.Target, &least, b.Strength)
		if _, shown := violationOf(x.Traces[p], p); !shown {
			return fmt.Errorf("exploring %s: an execution of %d actions violates %s in the search and not when it is replayed: this is a fault of lockproof; please report it",
				b.Target.Name, len(actions), p)
		}
	}
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
		Interrupted: found.Stop == search.Interrupted, Space: spaceOf(b, found, e.Search.Reductions),
	}
	for p := range spec.PropertyCount {
		if !b.Properties.Has(p) {
			continue
		}
		res := histories.PropertyResult{Property: p, Evidence: spec.Properties[p].Evidence}
		if found.Coverage.Exercised.Has(p) || p == spec.Linearizable {
			res.Checked = int(found.States)
		}
		if p == spec.Linearizable {
			res.Note, res.Undecided = e.Strength.String(), int(found.Doubted)
		}
		if t := x.Traces[p]; t != nil {
			v, _ := violationOf(t, p)
			res.Violation = &histories.Found{Steps: len(t.Steps), Detail: v.Explain(), Diagram: drawn(t)}
		}
		r.Properties = append(r.Properties, res)
	}
	return r
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
