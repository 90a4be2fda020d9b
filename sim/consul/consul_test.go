package consul

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/consul"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

var executions = flag.Int("executions", 500, "how many executions of each target are sampled")

func named(t *testing.T, name string) property.Property {
	t.Helper()
	p, err := property.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSampled: in random executions the reference violates nothing, and each mutant violates its property.
func TestSampled(t *testing.T) {
	var r sim.Runner
	for _, target := range slices.Concat(consul.References, consul.Mutants) {
		source, of := sim.NewSource(sim.Space{Target: target}, 1), property.Of(target)
		var found property.Set
		for i := 0; i < *executions; i++ {
			s := source.Scenario(i)
			for _, v := range r.Trace(target, &s, property.Weak).Violations {
				if target.Breaks == "" && of.Has(v.Property) {
					t.Errorf("%s, execution %d: %s: %s", target.Name, i, v.Property, v.Detail)
				}
				found = found.With(v.Property)
			}
			if target.Breaks != "" && found.Has(named(t, target.Breaks)) {
				break
			}
		}
		if target.Breaks != "" && !found.Has(named(t, target.Breaks)) {
			t.Errorf("%s: %s is not found, but %v", target.Name, target.Breaks, found.Names())
		}
	}
}

// TestLimitsRefused: clients state different limits, and each refuses to acquire if the lock has another limit. Every
// limit is then respected.
func TestLimitsRefused(t *testing.T) {
	target := *lock.TargetNamed("consul-limits-differ")
	target.Fix = consul.Table.Fix(func(o *consul.Options) { o.Deletes, o.Differs = true, consul.Refuse })
	var r sim.Runner
	source, p := sim.NewSource(sim.Space{Target: &target}, 1), named(t, target.Breaks)
	for i := 0; i < *executions; i++ {
		s := source.Scenario(i)
		for _, v := range r.Trace(&target, &s, property.Weak).Violations {
			if v.Property == p || v.Property == property.MutualExclusion {
				t.Errorf("execution %d: %s: %s", i, v.Property, v.Detail)
			}
		}
	}
	b := stated(bounds(&target, 2, sim.FaultBounds{Crashes: 1}, as, "ar", "a"), 2, 1)
	b.Properties = property.Set(0).With(p)
	if res := search.Run(t.Context(), b, search.Options{Workers: 1, Reductions: search.AllReductions}); res.Stop != search.Finished || res.Found != 0 {
		t.Errorf("%v, violates %v", res.Stop, res.Found.Names())
	}
}

// bounds returns a configuration of a target. Each text in clients has one client's operations: a, v and r stand for
// acquire, verify and release.
func bounds(target *lock.Target, slots uint8, faults sim.FaultBounds, change func(*consul.Options), clients ...string) sim.Bounds {
	b := sim.Bounds{
		Target: target, Options: consul.Table.Edit(consul.Table.Defaults(), change), Locks: []scenario.Lock{{Name: "jobs", Slots: slots}},
		Faults: faults, Properties: property.Of(target),
	}
	for _, words := range clients {
		var c scenario.Client
		for _, w := range words {
			c.Ops = append(c.Ops, scenario.Operation{Op: map[rune]lock.Op{'a': lock.Acquire, 'v': lock.Verify, 'r': lock.Release}[w]})
		}
		b.Clients = append(b.Clients, c)
	}
	return b
}

func as(*consul.Options) {}

// stated makes the first acquire of client i state limits[i].
func stated(b sim.Bounds, limits ...uint8) sim.Bounds {
	for i, limit := range limits {
		b.Clients[i].Ops[0].Arg = limit
	}
	return b
}

// TestExplored: the reference violates nothing in any execution within bounds. The numbers of states and transitions
// are compared with fixed numbers.
func TestExplored(t *testing.T) {
	for _, c := range []struct {
		name                string
		bounds              sim.Bounds
		states, transitions int64
	}{
		{"no fault", bounds(consul.References[0], 1, sim.FaultBounds{}, as, "avr", "avr"), 355, 608},
		{"a crash", bounds(consul.References[0], 1, sim.FaultBounds{Crashes: 1, Late: true}, as, "avr", "ar"), 802, 2450},
		{"a session ends", bounds(consul.References[0], 1, sim.FaultBounds{Drops: 1}, as, "avr", "ar"), 4132, 7963},
		{"a reply is lost", bounds(consul.References[0], 1, sim.FaultBounds{Lost: 1}, as, "avr", "ar"), 487, 1270},
		{"a restart", bounds(consul.References[0], 1, sim.FaultBounds{Restarts: 1}, as, "avr", "ar"), 672, 1474},
		{"two slots", bounds(consul.References[0], 2, sim.FaultBounds{}, as, "a", "a", "a"), 4674, 11814},
		{"sessions with a TTL", bounds(consul.References[0], 1, sim.FaultBounds{}, func(o *consul.Options) { o.TTL = 1 }, "av"), 89017, 169637},
		{"waiting", bounds(consul.References[0], 1, sim.FaultBounds{Crashes: 1}, func(o *consul.Options) { o.Full, o.Wait = consul.Listen, 5 }, "avr", "ar"), 922, 4006},
	} {
		res := search.Run(t.Context(), c.bounds, search.Options{Workers: 1, Reductions: search.AllReductions})
		if res.Stop != search.Finished || res.Found != 0 {
			t.Errorf("%s: %v, violates %v", c.name, res.Stop, res.Found.Names())
		}
		if res.States != c.states || res.Transitions != c.transitions {
			t.Errorf("%s: %d states, %d transitions, want %d and %d", c.name, res.States, res.Transitions, c.states, c.transitions)
		}
	}
}

// TestShortest: the shortest execution in which a mutant violates its property has exactly the given number of steps.
func TestShortest(t *testing.T) {
	for _, c := range []struct {
		bounds sim.Bounds
		steps  int
	}{
		{bounds(lock.TargetNamed("consul-unconfirmed"), 1, sim.FaultBounds{Drops: 1}, as, "a", "a"), 7},
		{bounds(lock.TargetNamed("consul-released-keys"), 1, sim.FaultBounds{Crashes: 1}, as, "a"), 1},
		{bounds(lock.TargetNamed("consul-holders-only"), 1, sim.FaultBounds{Drops: 1}, as, "av"), 6},
		{bounds(lock.TargetNamed("consul-two-reads"), 1, sim.FaultBounds{}, as, "a", "a"), 9},
		{bounds(lock.TargetNamed("consul-no-pruning"), 1, sim.FaultBounds{Crashes: 1}, as, "a", "a"), 5},
		{bounds(lock.TargetNamed("consul-blind-put"), 1, sim.FaultBounds{}, as, "a", "a"), 7},
		{bounds(lock.TargetNamed("consul-credulous"), 1, sim.FaultBounds{}, as, "a", "a"), 6},
		{bounds(lock.TargetNamed("consul-no-contender"), 1, sim.FaultBounds{Drops: 1}, as, "a", "a"), 7},
		{bounds(lock.TargetNamed("consul-one-too-many"), 1, sim.FaultBounds{}, as, "a", "a"), 7},
		{stated(bounds(lock.TargetNamed("consul-limits-differ"), 2, sim.FaultBounds{}, as, "a", "a"), 2, 1), 6},
		{bounds(lock.TargetNamed("consul-key-deleted"), 2, sim.FaultBounds{}, as, "ara", "a", "a"), 19},
	} {
		name := c.bounds.Target.Name
		p := named(t, c.bounds.Target.Breaks)
		found, _ := search.Counterexamples(t.Context(), c.bounds, search.AllReductions, property.Set(0).With(p), func([]scenario.Action) bool { return false })
		actions, ok := found[p]
		if !ok {
			t.Errorf("%s: %v is not violated", name, p)
			continue
		}
		s := c.bounds.Scenario()
		s.Schedule.Actions = actions
		tr := new(sim.Runner).Trace(c.bounds.Target, &s, property.Weak)
		if _, shown := sim.Violating(tr, p); !shown {
			t.Errorf("%s: the counterexample of the search does not replay: %v", name, actions)
		}
		if n := len(tr.Steps); n != c.steps {
			t.Errorf("%s: %v is violated in %d steps, want %d", name, p, n, c.steps)
		}
		if name == "consul-unconfirmed" || name == "consul-two-reads" {
			tr.Violations = slices.DeleteFunc(tr.Violations, func(v scenario.Violation) bool { return v.Property != p })
			var out strings.Builder
			if err := draw.Draw(&out, tr, style.Style{Width: 120}); err != nil {
				t.Fatal(err)
			}
			historiestest.Golden(t, name+".txt", out.String())
		}
	}
}

// TestAsManyAsMay: two clients may hold a semaphore with two slots, even if the lock's key no longer names one of them.
// They do not violate mutual exclusion, since slots have no numbers.
func TestAsManyAsMay(t *testing.T) {
	for _, name := range []string{"consul-key-deleted", "consul-all-out"} {
		b := bounds(lock.TargetNamed(name), 2, sim.FaultBounds{}, as, "ar", "a", "a")
		b.Properties = 1 << property.MutualExclusion
		if r := search.Run(t.Context(), b, search.Options{Workers: 1, Reductions: search.AllReductions}); r.Stop != search.Finished || r.Found != 0 {
			t.Errorf("%s: stopped %d, violates %v though at most two hold one of two places", name, r.Stop, r.Found.Names())
		}
	}
}
