package explore_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// holey is an initial set of slots with a gap: slots 1 and 3.
const holey scenario.SlotSet = 1<<1 | 1<<3

// TestStart explores a semaphore that begins with a gap in its slots. The initial gap must violate nothing. An
// administrator who adds the wrong slot must be found. The counterexample and its file must contain the gap.
func TestStart(t *testing.T) {
	x := explored(t, explore.Exploration{Workload: explore.Workload{Clients: 1, Rounds: 1, Start: holey, Calls: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}}})
	if v, why := x.Report.Verdict(x.Report.Result(property.Linearizable)); v != report.Skipped {
		t.Errorf("linearizable: %s %s", v, why)
	}
	if v := x.Report.Result(property.ContiguousSlots).Violation; v != nil {
		t.Errorf("a hole that was there is blamed on somebody: %s\n%s", v.Detail, v.Diagram)
	}
	x = explored(t, explore.Exploration{Workload: explore.Workload{Clients: 0, Rounds: 1, Admins: 1, Start: holey, AdminCalls: []scenario.Operation{{Op: lock.Add, Arg: 1}}}})
	found := x.Report.Result(property.ContiguousSlots).Violation
	if found == nil || !strings.Contains(found.Detail, "more or fewer slots than administered") {
		t.Fatalf("contiguous-slots: %+v", found)
	}
	if !strings.Contains(found.Diagram, "jobs with slots 1 and 3") || !strings.Contains(x.Report.Bounds, "slots 1 and 3 at first") {
		t.Errorf("it does not tell of the hole: %s\n%s", x.Report.Bounds, found.Diagram)
	}
	ce := x.Counterexamples("")[0]
	file := filepath.Join(t.TempDir(), "holes.json")
	if err := ce.Save(file); err != nil {
		t.Fatal(err)
	}
	loaded, err := histories.LoadCounterexample(file)
	if err != nil {
		t.Fatal(err)
	}
	if l := loaded.Scenario.Locks[0]; l.Existing() != holey {
		t.Errorf("the file begins with slots %s", l.Existing())
	}
	r, err := engine.Replay(loaded)
	if err != nil || r.Violation == nil {
		t.Errorf("replayed: %+v, %v", r, err)
	}
}

// TestStartReduced checks that reductions do not change the verdicts for a semaphore that begins with a gap in its
// slots.
func TestStartReduced(t *testing.T) {
	e := explore.Exploration{
		Workload: explore.Workload{
			Clients: 2, Rounds: 1, Admins: 1, Start: holey,
			Calls: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}, AdminCalls: []scenario.Operation{{Op: lock.Remove, Arg: 1}, {Op: lock.Add, Arg: 1}},
		}, Brief: true, Options: [][2]string{{"pipeline", "0"}},
	}
	reduced := explored(t, e)
	all, err := explore.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if reduced.Search.States >= all.Search.States {
		t.Errorf("%d states reduced, %d in all", reduced.Search.States, all.Search.States)
	}
	if reduced.Search.Found != all.Search.Found || all.Search.Found == 0 {
		t.Errorf("%v are violated reduced, and %v in all", reduced.Search.Found.Names(), all.Search.Found.Names())
	}
	t.Logf("%d of %d states; violated: %v", reduced.Search.States, all.Search.States, all.Search.Found.Names())
}

// TestStartDrawn checks that drawn scenarios can begin with a gap in the slots, and that they are judged as in an
// exploration.
func TestStartDrawn(t *testing.T) {
	res, err := sample.Prove(t.Context(), sample.Config{Sampling: engine.Sampling{Seed: 1, Scenarios: 2000, Shape: sim.Shape{Start: holey}}})
	if err != nil {
		t.Fatal(err)
	}
	if v, why := res.Report.Verdict(res.Report.Result(property.Linearizable)); v != report.Skipped {
		t.Errorf("linearizable is %s %s", v, why)
	}
	for _, p := range []property.Property{property.ContiguousSlots, property.Progress} {
		trace := res.Traces[p]
		if trace == nil {
			t.Errorf("%s is not violated", p)
			continue
		}
		for _, l := range trace.Scenario.Locks {
			if l.Existing() != holey {
				t.Errorf("the counterexample of %s begins with slots %s of %s", p, l.Existing(), l.Name)
			}
		}
	}
	for _, p := range []property.Property{property.MutualExclusion, property.NoPhantomSlot, property.HonestVerify, property.EffectiveRelease, property.AdminExclusion} {
		if v := res.Report.Result(p).Violation; v != nil {
			t.Errorf("%s: %s\n%s", p, v.Detail, v.Diagram)
		}
	}
}

// TestStartRefused checks that initial slots are refused for a lock that is no semaphore, and that invalid texts are
// refused.
func TestStartRefused(t *testing.T) {
	mutex := amqplock.References[1]
	if _, err := explore.Run(t.Context(), explore.Exploration{Target: mutex, Workload: explore.Workload{Clients: 1, Rounds: 1, Start: holey}}); err == nil {
		t.Error("a mutex begins with holes")
	}
	if _, err := sample.Prove(t.Context(), sample.Config{Target: mutex, Sampling: engine.Sampling{Shape: sim.Shape{Start: holey}}}); err == nil {
		t.Error("a mutex is drawn with holes")
	}
	for _, text := range []string{"1,3", "slots=", "slots=0", "slots=1,x", "slots=11"} {
		if set, err := explore.ParseStart(text); err == nil {
			t.Errorf("%q is slots %s", text, set)
		}
	}
	if set, err := explore.ParseStart("slots=1,3"); err != nil || set != holey || explore.StartFlag(set) != "slots=1,3" {
		t.Errorf("slots=1,3 is %s, %v", set, err)
	}
}

func explored(t *testing.T, e explore.Exploration) *explore.Explored {
	t.Helper()
	e.Search.Reductions = search.AllReductions
	x, err := explore.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
