package foreign_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/orders"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// The partial order reduction finds the same histories as visiting every order of commands, up to equivalence, and the
// same violated and exercised properties. It needs fewer runs. This is tested for correct and wrong locks.
func TestExploreLosesNothing(t *testing.T) {
	for i, k := range reduced {
		t.Run(fmt.Sprintf("%s/%d", k.target.Name, i), func(t *testing.T) {
			if testing.Short() && i >= 3 {
				t.Skip("skipped: -short leaves out all but the smallest")
			}
			runner := newRunner(t, k.target, func(c *foreign.Config) {
				o := amqplock.Table.Edit(amqplock.DefaultOptions(), func(o *amqplock.Options) { o.Pipeline, o.AdminMutex = 0, !k.unguarded })
				c.Starter = foreigntest.Machines{Target: k.target, Options: k.target.Settled(o)}
			})
			sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: k.slots}}}
			for _, ops := range k.clients {
				sc.Clients = append(sc.Clients, scenario.Client{Ops: ops})
			}
			seenByTruth := k.target.Name == "no-second-probe" // only the broker's state shows this bug
			if found := losesNothing(t, runner, sc, sim.FaultBounds{}); !seenByTruth && (found != 0) != (k.found != 0) {
				t.Errorf("violated: %v, expected something as %v is", found.Names(), k.found.Names())
			}
		})
	}
}

// losesNothing explores a scenario with the reduction and in every order. It fails the test if the outcomes differ or
// the reduction needs more runs. It returns the violated properties.
func losesNothing(t *testing.T, runner *foreign.Runner, sc scenario.Scenario, faults sim.FaultBounds) property.Set {
	t.Helper()
	less, all, found := sameOutcomes(t, runner, sc, faults)
	if less.Runs+less.Blocked > all.Runs {
		t.Errorf("%+v is more than %+v", less.Exploration, all.Exploration)
	}
	return found
}

// sameOutcomes explores a scenario with the reduction (less) and in every order (all), and fails the test if the
// outcomes differ. found is the violated properties.
func sameOutcomes(t *testing.T, runner *foreign.Runner, sc scenario.Scenario, faults sim.FaultBounds) (less, all visited, found property.Set) {
	t.Helper()
	less, found = outcomes(t, runner, sc, orders.Options{Runs: 4000, Faults: faults, Audits: true})
	all, _ = outcomes(t, runner, sc, orders.Options{Runs: 40_000, Faults: faults, Audits: true, Naive: true})
	for said := range all.outcomes {
		if !less.outcomes[said] {
			t.Fatalf("the reduction loses an outcome:\n%s", said)
		}
	}
	if len(less.outcomes) != len(all.outcomes) {
		t.Errorf("%d outcomes, and %d by every order", len(less.outcomes), len(all.outcomes))
	}
	fewer, same := outcomes(t, runner, sc, orders.Options{Runs: 4000, Faults: faults})
	if same != found || fewer.exercised != less.exercised || fewer.Runs != less.Runs || fewer.audits > less.audits {
		t.Errorf("with %d audits of %d: violated %v, put to the test %v; expected %v and %v", fewer.audits, less.audits, same.Names(), fewer.exercised.Names(), found.Names(), less.exercised.Names())
	}
	t.Logf("%d audits instead of %d", fewer.audits, less.audits)
	t.Logf("%d outcomes by %d runs and %d blocked, instead of %d", len(less.outcomes), less.Runs, less.Blocked, all.Runs)
	return less, all, found
}

// The reduction also loses nothing with faults: crashes, dropped connections, channel errors and lost replies.
func TestExploreFaultsLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out many executions in turn")
	}
	t.Parallel()
	mutex, semaphore := amqplock.References[1], amqplock.References[0]
	for _, k := range []struct {
		name    string
		target  *lock.Target
		slots   uint8
		clients [][]scenario.Operation
		faults  sim.FaultBounds
		found   property.Set
	}{
		{"crash", mutex, 0, [][]scenario.Operation{{acquire}, {acquire}}, sim.FaultBounds{Crashes: 1}, 0},
		{"crash noticed late", mutex, 0, [][]scenario.Operation{{acquire}, {acquire}}, sim.FaultBounds{Crashes: 1, Late: true}, 0},
		{"two crashes", mutex, 0, [][]scenario.Operation{{acquire}, {acquire}}, sim.FaultBounds{Crashes: 2}, 0},
		{"drop", mutex, 0, [][]scenario.Operation{{acquire, verify}, {acquire}}, sim.FaultBounds{Drops: 1}, 0},
		{"channel error", mutex, 0, [][]scenario.Operation{{acquire, verify}, {acquire}}, sim.FaultBounds{ChannelErrors: 1}, 0},
		{"lost reply", mutex, 0, [][]scenario.Operation{{acquire, release}, {acquire}}, sim.FaultBounds{Lost: 1, Late: true}, 0},
		{"crash of a semaphore's client", semaphore, 1, [][]scenario.Operation{{acquire}, {acquire}}, sim.FaultBounds{Crashes: 1}, 0},
		{"one of each", mutex, 0, [][]scenario.Operation{{acquire}, {acquire}}, sim.FaultBounds{Crashes: 1, Drops: 1, Late: true}, 0},
		{"crash that frees nothing", mutant.Named("mutex-auto-delete"), 0, [][]scenario.Operation{{acquire}, {acquire}}, sim.FaultBounds{Crashes: 1}, of(property.MutualExclusion, property.Linearizable)},
		{"drop that is not noticed", mutant.Named("verify-asks-nobody"), 1, [][]scenario.Operation{{acquire, verify}}, sim.FaultBounds{Drops: 1}, of(property.StaleBeliefEnds)},
	} {
		t.Run(k.name, func(t *testing.T) {
			if testing.Short() && (k.target == semaphore || k.faults.Crashes+k.faults.Drops > 1) {
				t.Skip("skipped: -short leaves out what has many orders")
			}
			runner := newRunner(t, k.target, func(c *foreign.Config) {
				o := amqplock.Table.Edit(amqplock.DefaultOptions(), func(o *amqplock.Options) { o.Pipeline, o.AdminMutex = 0, false })
				c.Starter = foreigntest.Machines{Target: k.target, Options: k.target.Settled(o)}
			})
			sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: k.slots}}}
			for _, ops := range k.clients {
				sc.Clients = append(sc.Clients, scenario.Client{Ops: ops})
			}
			if found := losesNothing(t, runner, sc, k.faults); (found != 0) != (k.found != 0) {
				t.Errorf("violated: %v, expected something as %v is", found.Names(), k.found.Names())
			}
		})
	}
}

// A client that holds a lock and has no operation left may still crash, at any moment.
func TestExploreIdle(t *testing.T) {
	runner := newRunner(t, amqplock.References[1], nil)
	one := scenario.Client{Ops: []scenario.Operation{acquire}}
	sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{one, one}}
	v, _ := outcomes(t, runner, sc, orders.Options{Runs: 400, Faults: sim.FaultBounds{Crashes: 1}})
	for _, want := range []string{"crash 1 after c1.1 true\n", "crash 1 after c1.1 true c2.1 false", "crash 1 after c1.1 true c2.1 true"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(v.outcomes)), func(said string) bool { return strings.Contains(said, want) }) {
			t.Errorf("no outcome has %q", want)
		}
	}
}

var (
	acquire = scenario.Operation{Op: lock.Acquire}
	verify  = scenario.Operation{Op: lock.Verify}
	release = scenario.Operation{Op: lock.Release}
	count   = scenario.Operation{Op: lock.Count}
	add     = scenario.Operation{Op: lock.Add, Arg: 1}
	remove  = scenario.Operation{Op: lock.Remove, Arg: 1}
)

// reduced are scenarios with few enough orders to visit all: a lock, its slots, its clients' operations, and the
// properties violated.
var reduced = []struct {
	target    *lock.Target
	unguarded bool // administrators use no mutex of their own
	slots     uint8
	clients   [][]scenario.Operation
	found     property.Set
}{
	{amqplock.References[1], false, 0, [][]scenario.Operation{{acquire, release}, {acquire, release}}, 0},
	{amqplock.References[0], true, 1, [][]scenario.Operation{{acquire}, {acquire}}, 0},
	{amqplock.References[0], true, 1, [][]scenario.Operation{{acquire}, {count}}, 0},
	{amqplock.References[0], false, 1, [][]scenario.Operation{{acquire, verify}, {remove}}, 0},
	{amqplock.References[0], false, 1, [][]scenario.Operation{{count}, {add}}, 0},
	{amqplock.References[0], true, 1, [][]scenario.Operation{{add}, {remove}}, of(property.ContiguousSlots, property.AdminExclusion, property.NoLeak)},
	{mutant.Named("locked-is-success"), false, 1, [][]scenario.Operation{{acquire, release}, {acquire}}, of(property.MutualExclusion, property.Linearizable)},
	{mutant.Named("probe-is-claim"), false, 1, [][]scenario.Operation{{acquire, verify}, {acquire}}, of(property.MutualExclusion, property.Linearizable)},
	{mutant.Named("no-second-probe"), false, 1, [][]scenario.Operation{{acquire, verify}, {remove}}, of(property.RemovalDrains)},
	{mutant.Named("leaks-on-withdrawal"), false, 1, [][]scenario.Operation{{acquire}, {remove}}, of(property.NoLeak)},
	{mutant.Named("scan-from-two"), false, 2, [][]scenario.Operation{{acquire}, {remove}}, of(property.Linearizable, property.Progress)},
	{mutant.Named("verify-holder-only"), false, 1, [][]scenario.Operation{{acquire, verify}, {remove}}, of(property.Linearizable, property.HonestVerify)},
	{mutant.Named("release-deletes-slot"), false, 1, [][]scenario.Operation{{acquire, release}, {acquire}}, of(property.Linearizable, property.ContiguousSlots, property.EffectiveRelease, property.NoLeak)},
	{mutant.Named("no-admin-mutex"), false, 1, [][]scenario.Operation{{add}, {remove}}, of(property.ContiguousSlots, property.AdminExclusion, property.NoLeak)},
	{mutant.Named("add-last-only"), false, 0, [][]scenario.Operation{{{Op: lock.Add, Arg: 2}}, {acquire}}, of(property.Linearizable, property.ContiguousSlots, property.NoLeak, property.Progress)},
	{mutant.Named("count-free-only"), false, 1, [][]scenario.Operation{{count}, {acquire, release}}, of(property.Linearizable, property.ExactCount)},
	{mutant.Named("mutex-probe-is-claim"), false, 0, [][]scenario.Operation{{acquire, verify, release}, {acquire, verify, release}}, of(property.MutualExclusion, property.Linearizable)},
}

func of(properties ...property.Property) (set property.Set) {
	for _, p := range properties {
		set = set.With(p)
	}
	return set
}

// visited is the result of an exploration with the outcomes of its executions.
type visited struct {
	*orders.Exploration
	outcomes  map[string]bool
	exercised property.Set
	audits    int
}

// outcomes explores a scenario completely, and collects its outcomes and violated properties.
func outcomes(t *testing.T, runner *foreign.Runner, sc scenario.Scenario, o orders.Options) (v visited, found property.Set) {
	t.Helper()
	v.outcomes = make(map[string]bool)
	var err error
	v.Exploration, err = runner.Explore(t.Context(), sc, o, func(x *foreign.Execution) error {
		v.outcomes[essence(x)+names("violates", x.Found)+names("puts to the test", x.Exercised)] = true
		found |= x.Found
		v.exercised |= x.Exercised
		if x.Audited {
			v.audits++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if v.Incomplete != "" {
		t.Fatalf("naive %v, %d runs: %s", o.Naive, v.Runs, v.Incomplete)
	}
	return v, found
}

// With a bound on preemptions, only orders are visited that switch at most so often from a client that could go on.
// With a large bound, all are.
func TestExplorePreemptions(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out many executions in turn")
	}
	t.Parallel()
	runner := newRunner(t, amqplock.References[1], nil)
	sc := scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs"}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{acquire, release}}, {Ops: []scenario.Operation{acquire, release}}},
	}
	faults := sim.FaultBounds{Crashes: 1}
	all, _ := outcomes(t, runner, sc, orders.Options{Runs: 4000, Faults: faults, Audits: true, Naive: true})
	before := 0
	for _, n := range []int{0, 1, 2, 100} {
		some, _ := outcomes(t, runner, sc, orders.Options{Runs: 4000, Faults: faults, Audits: true, Preemptions: &n})
		for said := range some.outcomes {
			if !all.outcomes[said] {
				t.Errorf("%d preemptions: an outcome that no order has:\n%s", n, said)
			}
		}
		if some.Runs <= before || n == 100 && some.Runs != all.Runs || n == 0 && some.Runs*4 > all.Runs {
			t.Errorf("%d preemptions: %d runs, after %d and of %d", n, some.Runs, before, all.Runs)
		}
		t.Logf("%d preemptions: %d runs, %d outcomes of %d", n, some.Runs, len(some.outcomes), len(all.outcomes))
		before = some.Runs
	}
}

// names lists the names of properties in a line that begins with what.
func names(what string, set property.Set) string {
	text := what
	for p := range property.Count {
		if set.Has(p) {
			text += " " + p.String()
		}
	}
	return text + "\n"
}

// Exploring finds the race of a lock that takes RESOURCE_LOCKED for success.
func TestExploreFindsRace(t *testing.T) {
	runner := newRunner(t, mutant.Named("locked-is-success"), nil)
	one := scenario.Client{Ops: []scenario.Operation{acquire}}
	sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{one, one}}
	var found property.Set
	e, err := runner.Explore(t.Context(), sc, orders.Options{Runs: 1000}, func(x *foreign.Execution) error { found |= x.Found; return nil })
	if err != nil || e.Incomplete != "" || !found.Has(property.MutualExclusion) {
		t.Errorf("%+v, %v: %b", e, err, found)
	}
}

// essence is what matters in a history, as text: the operations and results of each client, and which operation ended
// before which began.
func essence(x *foreign.Execution) string {
	type call struct {
		process, number int32
		said            string
		begun, over     int
	}
	var calls []*call
	open := make(map[int32]*call)
	count := make(map[int32]int32)
	for i, e := range x.History.Events {
		switch {
		case e.Process == history.Nemesis:
		case e.Type == history.Invoke:
			count[e.Process]++
			open[e.Process] = &call{process: e.Process, number: count[e.Process], begun: i, over: len(x.History.Events)}
			calls = append(calls, open[e.Process])
		default:
			open[e.Process].over = i
			open[e.Process].said = fmt.Sprint(e.F, e.Type, e.Held, e.Slot, e.Slots, e.Reason)
		}
	}
	slices.SortFunc(calls, func(a, b *call) int { return int(a.process*100 + a.number - b.process*100 - b.number) })
	text := ""
	for i, e := range x.History.Events {
		if e.Process != history.Nemesis {
			continue
		}
		text += fmt.Sprint(e.F, e.Target, " after")
		for _, b := range calls {
			if b.begun < i {
				text += fmt.Sprintf(" c%d.%d %v", b.process, b.number, b.over < i)
			}
		}
		text += "\n"
	}
	for _, a := range calls {
		text += fmt.Sprintf("c%d.%d %s after", a.process, a.number, a.said)
		for _, b := range calls {
			if b.over < a.begun {
				text += fmt.Sprintf(" c%d.%d", b.process, b.number)
			}
		}
		text += "\n"
	}
	return text
}

// An exploration reports that it is incomplete if it runs out of runs, or if something expires, so that the reduction
// would leave out too much.
func TestExploreIncomplete(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out many executions in turn")
	}
	t.Parallel()
	for _, k := range []struct {
		target *lock.Target
		runs   int
		says   string
	}{
		{amqplock.References[0], 3, "only 3 executions"},
		{mutant.Named("holder-expires"), 1000, "expires"}, // queues that clients declare expire
		{mutant.Named("slots-expire"), 1000, "expires"},   // queues that exist at the start expire
	} {
		runner := newRunner(t, k.target, nil)
		sc := scenario.Scenario{
			Locks:   []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients: []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{acquire}}},
		}
		e, err := runner.Explore(t.Context(), sc, orders.Options{Runs: k.runs}, func(*foreign.Execution) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(e.Incomplete, k.says) || e.Runs+e.Blocked > k.runs {
			t.Errorf("%s: %+v; expected %q", k.target.Name, *e, k.says)
		}
	}
}
