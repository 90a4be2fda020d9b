package redis

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/redis"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// calls returns a client that calls the operations in words. A digit is an acquire with that priority; v, x and r stand
// for verify, refresh and release.
func calls(words string) (c scenario.Client) {
	for _, w := range words {
		op := scenario.Operation{Op: lock.Acquire, Arg: uint8(w - '0')}
		switch w {
		case 'v':
			op = scenario.Operation{Op: lock.Verify}
		case 'x':
			op = scenario.Operation{Op: lock.Refresh}
		case 'r':
			op = scenario.Operation{Op: lock.Release}
		}
		c.Ops = append(c.Ops, op)
	}
	return c
}

// configuration has a target, its options and workload, and the possible faults.
type configuration struct {
	target  string
	options [][2]string
	clients []string
	faults  sim.FaultBounds
	before  string // steps before the search begins: 2 is a step of client 2, B is one whose reply is lost
}

func (f *configuration) bounds(t *testing.T, judged property.Set) sim.Bounds {
	t.Helper()
	target := lock.TargetNamed(f.target)
	o, err := lock.SetOptions(redis.Table.Defaults(), f.options)
	if err != nil || target == nil {
		t.Fatalf("%s: %v", f.target, err)
	}
	b := sim.Bounds{
		Target: target, Options: o, Locks: []scenario.Lock{{Name: "jobs"}}, Faults: f.faults, Properties: judged,
	}
	for _, words := range f.clients {
		b.Clients = append(b.Clients, calls(words))
	}
	for _, c := range f.before {
		a := scenario.Action{Kind: scenario.Step, Client: uint8(c - '0')}
		if c >= 'A' {
			a = scenario.Action{Kind: scenario.Lose, Client: uint8(c - 'A' + 1)}
		}
		b.Before = append(b.Before, a)
	}
	return b
}

func named(t *testing.T, name string) property.Property {
	t.Helper()
	p, err := property.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// least returns the shortest execution that violates property p, and whether there is one.
func least(t *testing.T, b sim.Bounds, p property.Property) (*scenario.Trace, bool) {
	found, _ := search.Counterexamples(t.Context(), b, search.Reductions{}, property.Set(0).With(p), func([]scenario.Action) bool { return false })
	actions, ok := found[p]
	if !ok {
		return nil, false
	}
	s := b.Scenario()
	s.Schedule.Actions = actions
	if len(b.Before) > 0 && !slices.Equal(actions[:min(len(b.Before), len(actions))], b.Before) {
		s.Schedule.Actions = append(slices.Clone(b.Before), actions...)
	}
	tr := new(sim.Runner).Trace(b.Target, &s, property.Weak)
	if _, shown := sim.Violating(tr, p); !shown {
		t.Errorf("%s: the counterexample of the search does not replay: %v", b.Target.Name, s.Schedule.Actions)
	}
	return tr, true
}

// breaking has configurations in which mutants violate their properties, each with the number of steps of the shortest
// such execution. They include the four edge cases of the text that describes this lock.
var breaking = []struct {
	configuration
	steps int
}{
	{configuration{target: "short-lease", clients: []string{"1", "2", "1"}, faults: sim.FaultBounds{Crashes: 1}}, 4},
	{configuration{target: "failed-thief-deletes", clients: []string{"1", "2", "1"}, before: "1112BB"}, 11},
	{configuration{target: "priority-text", clients: []string{"1", "2", "1"}, faults: sim.FaultBounds{Lost: 1}}, 4},
	{configuration{target: "one-victim", clients: []string{"1", "2", "3"}, before: "2111"}, 12},
	{configuration{target: "no-victim", clients: []string{"1", "2"}}, 2},
	{configuration{target: "impatient-thief", clients: []string{"1", "2"}}, 4},
	{configuration{target: "not-mine", clients: []string{"1", "2", "3"}, faults: sim.FaultBounds{Lost: 1}}, 6},
	{configuration{target: "chain-at-once", clients: []string{"1", "2", "3"}}, 6},
	{configuration{target: "ack-before-work", clients: []string{"1", "2"}}, 5},
	{configuration{target: "late-ack", clients: []string{"1", "2", "1"}}, 7},
	{configuration{target: "waiting-is-free", clients: []string{"1", "2v"}}, 7},
	{configuration{target: "validity-from-reply", clients: []string{"1v", "1"}}, 5},
	{configuration{target: "unguarded-delete", clients: []string{"1r", "2", "1"}}, 7},
	{configuration{target: "forgetful-server", clients: []string{"1", "11"}, faults: sim.FaultBounds{Restarts: 1}}, 6},
	{configuration{target: "deaf-to-extension", clients: []string{"1x", "2", "11"}}, 3},
}

// drawn has the names of the mutants whose counterexamples README.md shows.
var drawn = []string{"short-lease", "failed-thief-deletes", "one-victim", "not-mine", "impatient-thief"}

func TestEdges(t *testing.T) {
	for _, c := range breaking {
		t.Run(c.target, func(t *testing.T) {
			p := named(t, lock.TargetNamed(c.target).Breaks)
			tr, found := least(t, c.bounds(t, property.Set(0).With(p)), p)
			if !found {
				t.Fatalf("%v is not violated", p)
			}
			if n := len(tr.Steps); n != c.steps {
				t.Errorf("%v is violated in %d steps, want %d", p, n, c.steps)
			}
			if slices.Contains(drawn, c.target) {
				var out strings.Builder
				if err := draw.Draw(&out, tr, style.Style{Width: 120}); err != nil {
					t.Fatal(err)
				}
				historiestest.Golden(t, c.target+".txt", out.String())
			}
		})
	}
}

// TestEveryMutantIsTried: breaking has a configuration for every mutant.
func TestEveryMutantIsTried(t *testing.T) {
	for _, m := range redis.Mutants {
		if !slices.ContainsFunc(breaking, func(c struct {
			configuration
			steps int
		}) bool {
			return c.target == m.Name
		}) {
			t.Errorf("%s: no configuration in which it breaks %s", m.Name, m.Breaks)
		}
	}
}

type proof struct {
	configuration
	states, transitions int64
}

// proofs has configurations in which no execution violates anything that a search can judge, with their numbers of
// states and transitions. Some have two clients and one fault of each kind, others have the edge cases with three
// clients.
var proofs = []proof{
	{configuration{target: "priority-lock", clients: []string{"1vr", "2xr"}, faults: each}, 14959, 56901},
	{configuration{target: "priority-lock-left", clients: []string{"1vr", "2xr"}, faults: each}, 4053, 14333},
	{configuration{target: "priority-lock", clients: []string{"1r", "2r", "1r"}, faults: sim.FaultBounds{Crashes: 1}}, 2329, 7851},
	{configuration{target: "priority-lock", clients: []string{"1", "2", "3"}, faults: sim.FaultBounds{Lost: 1}}, 21905, 83359},
	{configuration{target: "priority-lock", options: short, clients: []string{"1", "2", "1"}, faults: sim.FaultBounds{Crashes: 1}}, 2740, 9268},
	{configuration{target: "priority-lock-left", clients: []string{"1", "2", "3"}, faults: sim.FaultBounds{Lost: 1}}, 1956, 5661},
	{configuration{target: "priority-lock-left", options: short, clients: []string{"1", "2", "1"}, faults: sim.FaultBounds{Crashes: 1}}, 1476, 4459},
	{configuration{target: "priority-redlock", clients: []string{"1r", "2r"}}, 104147, 369488},
	{configuration{target: "priority-redlock", clients: []string{"1", "2", "1"}, before: "1112BB"}, 5290, 15117},
	{configuration{target: "priority-lock", clients: []string{"1vr", "2xr"}, faults: clock}, 5952, 15914},
	{configuration{target: "priority-lock", options: short, clients: []string{"1", "2", "1"}, faults: clock}, 46875, 138251},
	{configuration{target: "priority-lock-left", clients: []string{"1", "2", "3"}, faults: clock}, 57658, 162448},
}

// TestAcquiresAgain: a client acquires again, with a lower priority, after its lease has ended. Only then can the other
// client steal the lock from it.
func TestAcquiresAgain(t *testing.T) {
	c := configuration{target: "no-victim", clients: []string{"21", "2"}}
	tr, found := least(t, c.bounds(t, property.Set(0).With(property.MutualExclusion)), property.MutualExclusion)
	if !found || len(tr.Steps) != 4 {
		t.Fatalf("client 1 acquires with priority 2 and, when that is over, 1; client 2 takes it without a question: found %v", found)
	}
	s := tr.Scenario
	s.Schedule = scenario.Schedule{Priorities: []uint8{1, 2}}
	granted := 0
	for _, e := range new(sim.Runner).Trace(lock.TargetNamed("no-victim"), &s, property.Weak).History.Events {
		if e.Process == 1 && e.F == history.F(lock.Acquire) && e.Held {
			granted++
		}
	}
	if granted != 2 {
		t.Errorf("a schedule in which client 1 goes first ends when it was granted the lock %d times, want 2", granted)
	}
}

var long = flag.Bool("long", false, "prove what takes minutes, too")

// longer has configurations whose search takes minutes: chains of thieves with a clock that jumps or drifts, and
// several servers with one fault of each kind.
var longer = []proof{
	{configuration{target: "priority-lock", clients: []string{"1", "2", "3"}, faults: clock}, 150098, 449833},
	{configuration{target: "priority-redlock", clients: []string{"1", "2"}, faults: sim.FaultBounds{Crashes: 1}}, 35417, 149525},
	{configuration{target: "priority-redlock", clients: []string{"1", "2"}, faults: sim.FaultBounds{Lost: 1}}, 93168, 290455},
	{configuration{target: "priority-redlock", clients: []string{"1", "2"}, faults: sim.FaultBounds{Drops: 1}}, 228776, 669808},
	{configuration{target: "priority-redlock", clients: []string{"1", "2"}, faults: sim.FaultBounds{Restarts: 1}}, 171744, 478058},
}

var (
	short = [][2]string{{"lease-above", "8"}}
	each  = sim.FaultBounds{Crashes: 1, Lost: 1, Drops: 1, Restarts: 1}
	clock = sim.FaultBounds{Clocks: 1}
)

func TestProved(t *testing.T) {
	all := proofs
	if *long {
		all = slices.Concat(proofs, longer)
	}
	for _, c := range all {
		b := c.bounds(t, 0)
		b.Properties = property.Of(b.Target) &^ (1 << property.Linearizable)
		res := search.Run(t.Context(), b, search.Options{Workers: 1, Reductions: search.AllReductions})
		if res.Stop != search.Finished || res.Found != 0 {
			t.Errorf("%s %v %v: %v, violates %v", c.target, c.clients, c.faults, res.Stop, res.Found.Names())
		}
		if res.States != c.states || res.Transitions != c.transitions {
			t.Errorf("%s %v %v: %d states and %d transitions, want %d and %d", c.target, c.clients, c.faults, res.States, res.Transitions, c.states, c.transitions)
		}
	}
}

var sampled = flag.Int("sampled", 500, "how many executions of each reference are sampled")

// TestSampled: in random executions with all kinds of faults, the reference locks violate nothing.
func TestSampled(t *testing.T) {
	for _, target := range redis.References {
		source := sim.NewSource(sim.Space{Target: target}, 1)
		judged := property.Of(target)
		var r sim.Runner
		var seen sim.Seen
		var exercised property.Set
		for i := range *sampled {
			s := source.Scenario(i)
			tr := r.Trace(target, &s, property.Weak)
			seen |= r.Seen
			exercised |= r.Monitor.Exercised
			if r.Monitor.Overlap > 0 || r.Monitor.OwnClock > 0 {
				t.Errorf("%s: execution %d: a belief outlives its lease beside another's for %d ms, whatever margin it has for clocks", target.Name, i, r.Monitor.Overlap)
			}
			for _, v := range tr.Violations {
				if judged.Has(v.Property) {
					t.Errorf("%s: execution %d violates %v: %s", target.Name, i, v.Property, v.Explain())
				}
			}
		}
		if !exercised.Has(property.VictimAcknowledged) {
			t.Errorf("%s: no thief has waited for its victims: victim-acknowledged was not put to the test", target.Name)
		}
		if !seen.Has(sim.SawCrash) {
			t.Errorf("%s: no crash was seen: the samples say less than they seem to", target.Name)
		}
	}
}

// TestAcknowledgedInRelease: a client that acknowledges a theft during its release has lost the lock. Its own claims,
// below those of the thief, do not make it a holder again after the thief's claims are gone.
func TestAcknowledgedInRelease(t *testing.T) {
	for _, c := range []struct {
		target    string
		execution int
	}{{"priority-lock", 52294}, {"priority-redlock", 5063}, {"priority-redlock", 38666}} {
		target := redis.References[slices.IndexFunc(redis.References, func(r *lock.Target) bool { return r.Name == c.target })]
		var r sim.Runner
		s := sim.NewSource(sim.Space{Target: target}, 20261123).Scenario(c.execution)
		for _, v := range r.Trace(target, &s, property.Weak).Violations {
			if property.Of(target).Has(v.Property) {
				t.Errorf("%s, execution %d, violates %v: %s", c.target, c.execution, v.Property, v.Explain())
			}
		}
	}
}

// TestMargin: if clients allow no margin for clock errors, a client with a slow clock believes too long, while another
// client is granted the lock. With a margin, the belief ends in time.
func TestMargin(t *testing.T) {
	for margin, outlives := range map[string]bool{"0": true, "5": false} {
		c := configuration{target: "priority-lock", options: [][2]string{{"margin", margin}}, clients: []string{"1v", "1v"}}
		b := c.bounds(t, 0)
		s := b.Scenario()
		s.Schedule.Actions = []scenario.Action{
			{Kind: scenario.Step, Client: 1}, {Kind: scenario.ClockSlow, Client: 1, Arg: 100}, {Kind: scenario.Advance, Arg: 22},
			{Kind: scenario.Step, Client: 2}, {Kind: scenario.Step, Client: 2},
		}
		var r sim.Runner
		tr := r.Trace(b.Target, &s, property.Weak)
		if len(tr.Violations) > 0 || (r.Monitor.Overlap > 0) != outlives || r.Monitor.OwnClock > r.Monitor.Overlap {
			t.Errorf("margin of %s ms: %d ms by the servers' clock, %d ms by its own, violates %v", margin, r.Monitor.Overlap, r.Monitor.OwnClock, tr.Violations)
		}
	}
}

// TestMostHaveIt: with several servers, a claim lasts until too few servers have it. This may be later than the
// client's deadline. Suppose that a client's clock was set back, and that a majority of servers then confirms its
// verify or refresh. This answer is true.
func TestMostHaveIt(t *testing.T) {
	step := func(client uint8, kind uint32) scenario.Action {
		return scenario.Action{Kind: scenario.Step, Client: client, Arg: kind}
	}
	for calls, ms := range map[string]uint32{"2v": 16, "2vx": 13} {
		c := configuration{target: "priority-redlock", clients: []string{"1", calls}}
		b := c.bounds(t, 0)
		s := b.Scenario()
		s.Schedule.Actions = []scenario.Action{
			step(1, 0), step(2, 0), {Kind: scenario.ClockBehind, Client: 2, Arg: 3}, step(2, 0), step(2, 0), step(1, 2), step(2, 2), step(2, 0),
		}
		if calls == "2vx" {
			s.Schedule.Actions = append(s.Schedule.Actions, step(2, 0), step(2, 0), step(2, 0))
		}
		s.Schedule.Actions = append(s.Schedule.Actions, scenario.Action{Kind: scenario.Advance, Arg: ms}, step(2, 0), step(2, 0), step(2, 0))
		var r sim.Runner
		for _, v := range r.Trace(b.Target, &s, property.Weak).Violations {
			t.Errorf("%s: violates %v: %s", calls, v.Property, v.Explain())
		}
	}
}
