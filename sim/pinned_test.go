package sim_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	_ "github.com/lockproof/lockproof/sim/amqp/consumption"
	_ "github.com/lockproof/lockproof/sim/consul"
	_ "github.com/lockproof/lockproof/sim/redis"
	_ "github.com/lockproof/lockproof/sim/sql"
)

// perBackend compares results for all targets of each backend with a file per backend.
func perBackend(t *testing.T, kind string, block func(f *pinned.File, target *lock.Target)) {
	for _, b := range lock.Backends() {
		f := pinned.New(t)
		for _, target := range b.Targets() {
			block(f, target)
		}
		f.Compare(fmt.Sprintf("testdata/pinned/%s-%s.txt", kind, cmp.Or(b.Name, "amqp")))
	}
}

// TestPinnedExecutions compares random executions of every target with files: steps, events, violations, the number of
// checks of each property, and the costs of operations. [TestScripts] shows some executions in full.
func TestPinnedExecutions(t *testing.T) {
	perBackend(t, "executions", func(f *pinned.File, target *lock.Target) {
		inputs := 20
		if target.Breaks == "" {
			inputs = 300
		}
		first := &firsts{target: target}
		f.Block(target.Name, inputs, func(i int, s *pinned.Seen) { execution(s, first, i) })
	})
}

// firsts selects the violations of a target that get a row: the first of each property or, for a mutant, the first of
// the property that it breaks.
type firsts struct {
	target *lock.Target
	seen   property.Set
}

func (f *firsts) has(p property.Property) bool {
	if f.seen.Has(p) || f.target.Breaks != "" && f.target.Breaks != p.String() {
		return false
	}
	f.seen = f.seen.With(p)
	return true
}

// unusual has option values that are never drawn for a scenario.
var unusual = [][2]string{
	{"connection", amqplock.SharedConnection}, {"admin-mutex", "false"}, {"existence", amqplock.ByPassive}, {"order", amqplock.Ascending}, {"verify-first", "false"},
	{"restart", amqplock.RestartAny}, {"add-reading", amqplock.Literal}, {"remove-reading", amqplock.Literal}, {"durable", "false"}, {"expires", "30"},
}

// execution runs the i-th scenario of a target and writes its results.
func execution(s *pinned.Seen, first *firsts, i int) {
	target := first.target
	space := sim.Space{Target: target}
	if n := i % (3 * len(unusual)); n < len(unusual) && target.Breaks == "" && target.Backend == "" {
		space.Fixed = unusual[n : n+1]
	}
	drawn := sim.NewSource(space, 21).Scenario(i)
	runner := sim.Runner{World: sim.World{Costs: new(monitor.Costs), Coverage: new(sim.Coverage)}}
	runner.Monitor.Checks = new(monitor.Counts)
	failedAcquire := property.FailedAcquire(i % 2)
	trace := runner.Trace(target, &drawn, failedAcquire)
	s.Add("steps", len(trace.Steps))
	s.Add("events", len(trace.History.Events))
	for _, step := range trace.Steps {
		s.Printf("%v %d %v %v %d ", step.Action, step.Time, step.Command, step.Reply, step.Events)
		for _, truth := range step.Truth {
			s.Printf("%x %x %x %x\n", truth.Exists, truth.Taken, truth.Owner[:], truth.Admin)
			if target.Backend != "" {
				s.Printf("%x %d %v %v %v %d\n", truth.Pending, truth.Limit, truth.Priority, truth.Until, truth.Token, truth.Nearest())
			}
		}
	}
	for _, e := range trace.History.Events {
		s.Printf("{%v %v %v %v %v %v %v %v %v %v}\n", e.Time, e.Process, e.Target, e.Lock, e.Slot, e.Slots, e.Type, e.F, e.Reason, e.Held)
	}
	for _, v := range trace.Violations {
		s.Count(v.Property.String())
		text := fmt.Sprintf("%d: %s at step %d: %s", i, v.Property, v.Step, v.Explain())
		if s.Printf("%s", text); first.has(v.Property) {
			s.Rowf("%s", text)
		}
	}
	m := &runner.Monitor
	s.Printf("%b %b %v %v %d %d %v\n", m.Found, m.Exercised, m.Witnessed, m.WitnessedStrong, m.Overlap, m.Overlaps, m.Checks[:property.NoCrash+1])
	found, undecided := runner.Judge(failedAcquire)
	s.Add("commands", runner.Sent())
	s.Printf("%b %v %d %b %d\n", found, undecided != "", runner.Called(), runner.Seen, len(runner.Coverage.Points))
	for class, tally := range runner.Costs {
		if tally.Count > 0 {
			s.Printf("%s %d %v %v %v\n", monitor.CostClass(class), tally.Count, tally.Sum, tally.Min, tally.Max)
		}
	}
}

// TestPinnedSystems compares random walks through transition systems with files. For each state it writes the possible
// actions, the outcome of the action taken, and the size of the encoded state. The judged properties are random.
func TestPinnedSystems(t *testing.T) {
	perBackend(t, "systems", func(f *pinned.File, target *lock.Target) {
		inputs := 12
		if target.Breaks == "" {
			inputs = 120
		}
		first := &firsts{target: target}
		f.Block(target.Name, inputs, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(31, uint64(i)))
			bounds := randomBounds(target, r, i)
			if err := bounds.Check(); err != nil {
				t.Fatalf("%s, %d: %v", target.Name, i, err)
			}
			(&walk{t: t, Rand: r, system: sim.NewSystem(bounds), bounds: bounds}).run(i, s, first)
		})
	})
}

// randomBounds draws bounds that have the workload of the i-th scenario of a target.
func randomBounds(target *lock.Target, r *rand.Rand, i int) sim.Bounds {
	drawn := sim.NewSource(sim.Space{Target: target}, 22).Scenario(i)
	fault := func() int { return []int{0, 0, 1, 1, 2, sim.AnyNumber}[r.IntN(6)] }
	b := sim.Bounds{
		Target: target, Options: drawn.Options, Locks: drawn.Locks, Clients: drawn.Clients,
		Faults: sim.FaultBounds{
			Crashes: fault(), Drops: fault(), ChannelErrors: fault(), Lost: fault(), Restarts: fault(), Late: r.IntN(2) == 0, CleanCrashes: r.IntN(4) == 0,
		},
		Forever: r.IntN(3) == 0, Properties: property.Applicable(target.Kind), FailedAcquire: property.FailedAcquire(r.IntN(2)), Every: r.IntN(4) == 0,
	}
	if r.IntN(3) == 0 {
		b.Properties &= property.Set(r.Uint32())
	}
	if sim.BackendOf(target).Clocks != (sim.ClockFaults{}) {
		b.Faults.Clocks = fault()
	} else if target.Backend == "" && r.IntN(6) == 0 && target.Fix == nil {
		b.Options = amqplock.Table.Edit(b.Options, func(o *amqplock.Options) { o.Connection, o.Release = amqplock.SharedConnection, amqplock.DeleteB })
	}
	if b.Options = target.Settled(b.Options); b.Options.Check() != nil {
		b.Options = target.Settled(lock.BackendOf(target).Defaults)
	}
	return b
}

// walk is a random walk through the states of a system.
type walk struct {
	t *testing.T
	*rand.Rand
	system *sim.System
	bounds sim.Bounds
}

func (w *walk) run(i int, s *pinned.Seen, first *firsts) {
	s.Printf("%s %v %v\n", w.bounds.Faults, w.system.Independent(), w.system.Memoryless())
	for step := range 50 {
		var actions []scenario.Action
		for n := range w.system.Clients() + 1 {
			actions = w.system.Actions(n, actions)
		}
		s.Printf("%v\n", actions)
		if len(actions) == 0 {
			break
		}
		a := actions[w.IntN(len(actions))]
		for range 3 { // prefer steps, since there are many faults and each can happen only a few times
			if a.Kind != scenario.Step && w.IntN(3) > 0 {
				a = actions[w.IntN(len(actions))]
			}
		}
		o := w.system.Take(a)
		for p := range o.Found.All() {
			s.Count(p.String())
			if first.has(p) {
				s.Rowf("%d: %s at step %d: %s (%s)", i, p, step, a, o.Op)
			}
		}
		s.Count(a.Kind.String())
		x := &o.Exchange
		s.Printf("%v: %b %b, %s %v %v %v, %d %d %d %d,", a, o.Found, o.Exercised, o.Op, o.Completed, o.Visible, o.Timed, x.Method, x.Answer, x.Result, x.Role)
		s.Printf("%d %v %s %d %d\n", o.Result.Outcome, o.Result.Held, o.Result.Reason, o.Result.Slot, o.Result.Slots)
		w.state(s)
	}
	s.Printf("%b", w.system.Finish())
}

// state writes what the system reports about its current state, and the size of the encoded state.
func (w *walk) state(s *pinned.Seen) {
	sys := w.system
	shared := sys.Shared(nil)
	kept, views := len(shared), 0
	s.Printf("%v %v %b", sys.Witnessed(), sys.Quiet(), sys.Slots())
	var clients [][]byte
	for n := 1; n <= sys.Clients(); n++ {
		clients = append(clients, sys.Client(n, nil))
		kept, views = kept+len(clients[n-1]), views+len(sys.View(n, nil))
		s.Printf(" %v %v", sys.Holds(n), sys.Busy(n))
	}
	s.Add("bytes kept", kept)
	s.Add("bytes of views", views)
	switch w.IntN(6) {
	case 0: // go to the initial state, and load this state again
		sys.Reset()
		sys.Load(shared, clients)
		if again := sys.Shared(nil); !bytes.Equal(again, shared) {
			w.t.Errorf("%s: %x is kept, and loaded it is %x", w.bounds.Target.Name, shared, again)
		}
	case 1:
		if sys.Quiet() {
			s.Printf(" %b", sys.Audit())
		}
	case 2:
		if !sys.Independent() {
			break
		}
		n := 1 + w.IntN(sys.Clients())
		s.Printf(" %d %d", len(sys.Abandoned(n)), len(sys.Client(n, nil)))
		sys.Load(shared, clients)
	}
	s.Printf("\n")
}
