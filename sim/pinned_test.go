package sim_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lockproof/lockproof/internal/historiestest"
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

// perBackend compares what is made of the targets of each backend with a file of its own.
func perBackend(t *testing.T, kind string, block func(f *pinned.File, target *lock.Target)) {
	for _, b := range lock.Backends() {
		f := pinned.New(t)
		for _, target := range b.Targets() {
			block(f, target)
		}
		f.Compare(fmt.Sprintf("testdata/pinned/%s-%s.txt", kind, cmp.Or(b.Name, "amqp")), historiestest.Rewriting())
	}
}

// TestPinnedExecutions compares random executions of every target with a file: each step, event and violation, the
// number of checks of each property, and the costs of operations.
func TestPinnedExecutions(t *testing.T) {
	perBackend(t, "executions", func(f *pinned.File, target *lock.Target) {
		inputs := 20
		if target.Breaks == "" {
			inputs = 300
		}
		f.Block(target.Name, inputs, func(i int, s *pinned.Seen) { execution(s, target, i) })
	})
}

// unusual are options that no scenario is drawn with.
var unusual = [][2]string{
	{"connection", amqplock.SharedConnection}, {"admin-mutex", "false"}, {"existence", amqplock.ByPassive}, {"order", amqplock.Ascending}, {"verify-first", "false"},
	{"restart", amqplock.RestartAny}, {"add-reading", amqplock.Literal}, {"remove-reading", amqplock.Literal}, {"durable", "false"}, {"expires", "30"},
}

// execution runs the i-th scenario of a target.
func execution(s *pinned.Seen, target *lock.Target, i int) {
	space := sim.Space{Target: target}
	if n := i % (3 * len(unusual)); n < len(unusual) && target.Breaks == "" && target.Backend == "" {
		space.Fixed = unusual[n : n+1]
	}
	drawn := sim.NewSource(space, 21).Scenario(i)
	runner := sim.Runner{World: sim.World{Costs: new(monitor.Costs), Coverage: new(sim.Coverage)}}
	runner.Monitor.Checks = new(monitor.Counts)
	failedAcquire := property.FailedAcquire(i % 2)
	trace := runner.Trace(target, &drawn, failedAcquire)
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
		s.Printf("{{%v %v %v %v %v %v %v} %d} %s\n", v.Property, v.Kind, v.Lock, v.Client, v.Other, v.Slot, v.Detail, v.Step, v.Explain())
	}
	m := &runner.Monitor
	s.Printf("%b %b %v %v %d %d %v\n", m.Found, m.Exercised, m.Witnessed, m.WitnessedStrong, m.Overlap, m.Overlaps, m.Checks[:property.NoCrash+1])
	found, undecided := runner.Judge(failedAcquire)
	s.Printf("%b %v %d %d %b %v\n", found, undecided != "", runner.Sent(), runner.Called(), runner.Seen, runner.Coverage.Points)
	for class, tally := range runner.Costs {
		if tally.Count > 0 {
			s.Printf("%d %v\n", class, tally)
		}
	}
}

// TestPinnedSystems compares random walks through transition systems with a file. The file has the possible actions of each
// state, the result of the action taken, and the state as a search would keep it, for random properties.
func TestPinnedSystems(t *testing.T) {
	perBackend(t, "systems", func(f *pinned.File, target *lock.Target) {
		inputs := 12
		if target.Breaks == "" {
			inputs = 120
		}
		f.Block(target.Name, inputs, func(i int, s *pinned.Seen) {
			r := rand.New(rand.NewPCG(31, uint64(i)))
			bounds := randomBounds(target, r, i)
			if err := bounds.Check(); err != nil {
				t.Fatalf("%s, %d: %v", target.Name, i, err)
			}
			(&walk{Rand: r, system: sim.NewSystem(bounds), bounds: bounds}).run(s)
		})
	})
}

// randomBounds are bounds with the workload of a scenario.
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

// walk is a way through a transition system.
type walk struct {
	*rand.Rand
	system *sim.System
	bounds sim.Bounds
}

func (w *walk) run(s *pinned.Seen) {
	s.Printf("%s %v %v\n", w.bounds.Faults, w.system.Independent(), w.system.Memoryless())
	for range 50 {
		var actions []scenario.Action
		for n := range w.system.Clients() + 1 {
			actions = w.system.Actions(n, actions)
		}
		s.Printf("%v\n", actions)
		if len(actions) == 0 {
			break
		}
		a := actions[w.IntN(len(actions))]
		for range 3 { // faults are many, and each only happens so often
			if a.Kind != scenario.Step && w.IntN(3) > 0 {
				a = actions[w.IntN(len(actions))]
			}
		}
		o := w.system.Take(a)
		if o.Found != 0 {
			s.Count("found")
		}
		s.Count(a.Kind.String())
		s.Printf("%v: %v\n", a, o)
		w.state(s)
	}
	s.Printf("%b", w.system.Finish())
}

// state is all that can be seen of a state.
func (w *walk) state(s *pinned.Seen) {
	sys := w.system
	shared := sys.Shared(nil)
	s.Printf("%x %v %v %b", shared, sys.Witnessed(), sys.Quiet(), sys.Slots())
	var clients [][]byte
	for n := 1; n <= sys.Clients(); n++ {
		clients = append(clients, sys.Client(n, nil))
		s.Printf(" %x %x %v %v %v", clients[n-1], sys.View(n, nil), sys.Holds(n), sys.Busy(n), sys.Footprint(n, sys.Calm()))
	}
	switch w.IntN(6) {
	case 0: // elsewhere, and back
		sys.Reset()
		sys.Load(shared, clients)
		s.Printf(" %x", sys.Shared(nil))
	case 1:
		if sys.Quiet() {
			s.Printf(" %b", sys.Audit())
		}
	case 2:
		if !sys.Independent() {
			break
		}
		n := 1 + w.IntN(sys.Clients())
		s.Printf(" %x %x", sys.Abandoned(n), sys.Client(n, nil))
		sys.Load(shared, clients)
	}
	s.Printf("\n")
}
