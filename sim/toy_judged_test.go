package sim_test

import (
	"strings"
	"testing"

	"github.com/lockproof/lockproof/histories/draw"
	"github.com/lockproof/lockproof/histories/style"
	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
	"github.com/lockproof/lockproof/sim/shrink"
)

// TestToySampled: the generic code samples, judges, minimises, draws and replays executions of a backend other than
// AMQP.
func TestToySampled(t *testing.T) {
	const scenarios = 3000
	var r sim.Runner
	for _, target := range []*lock.Target{toyReference, toyImpatient, toyCredulous} {
		source := sim.NewSource(sim.Space{Target: target}, 1)
		var found property.Set
		var seen sim.Seen
		waits, messages, first := 0, 0, -1
		for i := range scenarios {
			s := source.Scenario(i)
			tr := r.Trace(target, &s, property.Weak)
			for _, v := range tr.Violations {
				found = found.With(v.Property)
			}
			if first < 0 && target.Breaks != "" && found.Has(named(t, target.Breaks)) {
				first = i
			}
			seen |= r.Seen
			for k := range tr.Steps {
				if tr.Steps[k].Reply == "waits" {
					waits++
				}
				if tr.Steps[k].Reply == "lost" {
					messages++
				}
			}
		}
		switch {
		case target.Breaks == "" && found != 0:
			t.Errorf("%s: violates %v", target.Name, found.Names())
		case target.Breaks != "" && first < 0:
			t.Errorf("%s: %s is not found, but %v", target.Name, target.Breaks, found.Names())
		case waits == 0 || messages == 0 || !seen.Has(sim.SawCrash) || !seen.Has(sim.SawLateDetection):
			t.Errorf("%s: %d commands waited, %d messages came, %b was seen: the samples say less than they seem to", target.Name, waits, messages, seen)
		}
		if first >= 0 {
			historiestest.Golden(t, target.Name+".txt", minimal(t, target, source.Scenario(first)))
		}
	}
}

func named(t *testing.T, name string) property.Property {
	p, err := property.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// minimal minimises a counterexample and returns its diagram. It also checks that the result replays.
func minimal(t *testing.T, target *lock.Target, s scenario.Scenario) string {
	var r sim.Runner
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
		return sim.Violating(r.Trace(target, s, property.Weak), named(t, target.Breaks))
	}
	least := shrink.Minimise(t.Context(), sim.Replay(r.Trace(target, &s, property.Weak)), attempt, func(string) bool { return false }, 2000)
	if _, shown := attempt(&least); !shown {
		t.Fatalf("%s: what is left does not show it", target.Name)
	}
	var out strings.Builder
	if err := draw.Draw(&out, r.Trace(target, &least, property.Weak), style.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestToyExplored searches all executions of the toy locks within bounds. Commands wait, clients die while their
// commands wait, and leases end. The search finds the violations of the mutants, and none of the reference.
func TestToyExplored(t *testing.T) {
	const a, v, r = lock.Acquire, lock.Verify, lock.Release
	for _, target := range []*lock.Target{toyReference, toyImpatient, toyCredulous} {
		b := sim.Bounds{
			Target: target, Options: toyTable.Defaults(), Locks: []scenario.Lock{{Name: "jobs"}},
			Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: a}, {Op: v}, {Op: r}}}, {Ops: []scenario.Operation{{Op: a}, {Op: r}}}},
			Faults:  sim.FaultBounds{Crashes: 1, Late: true}, Properties: property.Of(target),
		}
		res := search.Run(t.Context(), b, search.Options{Workers: 1, Reductions: search.AllReductions})
		t.Logf("%s: %d states, %d transitions", target.Name, res.States, res.Transitions)
		want := property.Set(0)
		if target.Breaks != "" {
			want = want.With(named(t, target.Breaks))
		}
		if res.Stop != search.Finished || res.Found&want != want || want == 0 && res.Found != 0 {
			t.Errorf("%s: %v, violates %v", target.Name, res.Stop, res.Found.Names())
		}
		plain := search.Run(t.Context(), b, search.Options{Workers: 1})
		if plain.Stop != search.Finished || plain.Found != res.Found {
			t.Errorf("%s: %v without reductions, and %v with them", target.Name, plain.Found.Names(), res.Found.Names())
		}
		if want == 0 {
			continue
		}
		found, _ := search.Counterexamples(t.Context(), b, search.AllReductions, want, func([]scenario.Action) bool { return false })
		s := b.Scenario()
		s.Schedule.Actions = found[named(t, target.Breaks)]
		if _, shown := sim.Violating(new(sim.Runner).Trace(target, &s, property.Weak), named(t, target.Breaks)); !shown {
			t.Errorf("%s: the counterexample of the search does not replay: %v", target.Name, s.Schedule.Actions)
		}
	}
}
