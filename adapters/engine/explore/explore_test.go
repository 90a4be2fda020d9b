package explore_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/searchtest"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

func calls(ops ...scenario.Operation) []scenario.Operation { return ops }

func call(op lock.Op) scenario.Operation { return scenario.Operation{Op: op} }

func callN(op lock.Op, n uint8) scenario.Operation { return scenario.Operation{Op: op, Arg: n} }

// room is a small configuration with a name.
type room struct {
	name string
	explore.Exploration
}

// rooms are configurations that are small enough to be visited quickly. Each is for one kind of bug.
var rooms = []room{
	{"clients", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1}}},
	{"probing", explore.Exploration{Workload: explore.Workload{Clients: 1, Rounds: 1, Slots: 1, Calls: calls(call(lock.Acquire))}}},
	{"two slots", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 2, Calls: calls(call(lock.Acquire))}}},
	{"crash", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1, Faults: sim.FaultBounds{Crashes: 1, Late: true}}}},
	{"drop", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1, Faults: sim.FaultBounds{Drops: 1}}}},
	{"lost reply", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1, Faults: sim.FaultBounds{Lost: 1}}}},
	{"restart", explore.Exploration{Workload: explore.Workload{Clients: 1, Rounds: 1, Slots: 1, Faults: sim.FaultBounds{Restarts: 1}}}},
	{"no retries", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 2, Calls: calls(call(lock.Acquire))}, Options: [][2]string{{"retries", "0"}}}},
	{"removal", explore.Exploration{Workload: explore.Workload{Clients: 1, Rounds: 1, Admins: 1, Slots: 1, AdminCalls: calls(callN(lock.Remove, 1))}}},
	{"renewal", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Admins: 1, Slots: 1, Calls: calls(call(lock.Acquire), call(lock.Verify))}}},
	{"three", explore.Exploration{Workload: explore.Workload{Clients: 3, Rounds: 1, Slots: 2, Calls: calls(call(lock.Acquire))}, Options: [][2]string{{"retries", "0"}}}},
	{"in a row", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1, Calls: calls(call(lock.Acquire))}, Options: [][2]string{{"pipeline", "1"}}}},
	{"two admins", explore.Exploration{Workload: explore.Workload{Admins: 2, Rounds: 1, Slots: 1}, Options: [][2]string{{"admin-retries", "0"}}}},
	{"admins only", explore.Exploration{Workload: explore.Workload{Admins: 2, Rounds: 1, AdminCalls: calls(callN(lock.Remove, 1))}, Options: [][2]string{{"admin-retries", "0"}, {"pipeline", "2"}}}},
	{"of two", explore.Exploration{Workload: explore.Workload{Admins: 1, Rounds: 1, Slots: 2, AdminCalls: calls(callN(lock.Remove, 1))}}},
	{"two removed", explore.Exploration{Workload: explore.Workload{Admins: 1, Rounds: 1, Slots: 2, AdminCalls: calls(callN(lock.Remove, 2)), Faults: sim.FaultBounds{Crashes: 1}}}},
	{"one added", explore.Exploration{Workload: explore.Workload{Admins: 1, Rounds: 1, AdminCalls: calls(callN(lock.Add, 1)), Faults: sim.FaultBounds{Crashes: 1, Late: true}}}},
	{"two added", explore.Exploration{Workload: explore.Workload{Admins: 1, Rounds: 1, AdminCalls: calls(callN(lock.Add, 2)), Faults: sim.FaultBounds{Crashes: 1}}}},
	{"broken link", explore.Exploration{Workload: explore.Workload{Admins: 1, Rounds: 1, Slots: 1, AdminCalls: calls(callN(lock.Remove, 1)), Faults: sim.FaultBounds{ChannelErrors: 1}}}},
	{"counting", explore.Exploration{Workload: explore.Workload{Clients: 1, Rounds: 1, Admins: 1, Slots: 1, AdminCalls: calls(call(lock.Count)), Calls: calls(call(lock.Acquire))}}},
	{"waiting", explore.Exploration{Workload: explore.Workload{Clients: 1, Rounds: 1, Admins: 1, Slots: 1, AdminCalls: calls(callN(lock.Remove, 1), callN(lock.Wait, 1)), Calls: calls(call(lock.Acquire))}, Options: [][2]string{{"polls", "0"}}}},
	{"look-alikes", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Names: []string{"jobs", "jobs1"}, Calls: calls(call(lock.Acquire))}}},
	{"namesakes", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Names: []string{"jobs", "jobs-1-A"}, Calls: calls(call(lock.Acquire))}}},
	{"idle broker", explore.Exploration{Workload: explore.Workload{Clients: 1, Admins: 1, Rounds: 1, Slots: 1, AdminCalls: calls(call(lock.Count))}}},
}

// TestExploreMutants checks that exploring finds every mutant's bug that drawn scenarios find, in at most as many
// steps.
func TestExploreMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the visiting of every mutant")
	}
	for _, target := range mutant.All {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			p, err := property.Named(target.Breaks)
			if err != nil {
				t.Fatal(err)
			}
			sampled, err := histories.LoadCounterexample(filepath.Join("..", "..", "..", "testdata", "counterexamples", histories.FileName(p, target.Name)))
			if err != nil {
				t.Fatal(err)
			}
			want, best := 0, 0
			for _, a := range sampled.Scenario.Schedule.Actions {
				if want++; a.Kind == scenario.CrashReply { // in an exploration the crash is a separate step
					want++
				}
			}
			for _, room := range rooms {
				steps := visit(t, target, room.Exploration, p)
				if steps > 0 && (best == 0 || steps < best) {
					best = steps
				}
				if steps > 0 && steps <= want {
					t.Logf("%s in %d steps (%s); sampling: %d", p, steps, room.name, want)
					return
				}
			}
			t.Errorf("%s: %d steps at least; sampling found %d", p, best, want)
		})
	}
}

// visit explores a target in a room and returns the number of steps of the violation; 0 if there is none.
func visit(t *testing.T, target *lock.Target, e explore.Exploration, p property.Property) int {
	e.Target, e.Properties = target, 1<<p
	e.Options = slices.DeleteFunc(append([][2]string{{"pipeline", "0"}}, e.Options...), func(o [2]string) bool {
		_, err := engine.OptionsOf(target, [][2]string{o})
		return err != nil // leaves out an option whose value the target refuses
	})
	e.Search = search.Options{Reductions: search.AllReductions, First: p != property.Linearizable, Workers: 1}
	if target.Kind == lock.Mutex {
		e.Admins = 0
	}
	if target.Kind != lock.Semaphore && e.AdminCalls != nil {
		e.AdminCalls = nil
	}
	if e.Clients+e.Admins == 0 {
		return 0
	}
	x, err := explore.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if tr := x.Traces[p]; tr != nil {
		return len(tr.Steps)
	}
	return 0
}

// TestExploreInterrupted interrupts a search at different moments. Every violation that was found must be reported with
// an execution.
func TestExploreInterrupted(t *testing.T) {
	target, err := engine.TargetNamed("locked-is-success")
	if err != nil {
		t.Fatal(err)
	}
	for n, found := 1, 0; found < 3; n++ {
		ctx := searchtest.NewCountdown(n)
		x, err := explore.Run(ctx, explore.Exploration{Target: target, Workload: explore.Workload{Clients: 3, Rounds: 1, Slots: 1}, Search: search.Options{Workers: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if x.Search.Stop == search.Finished {
			t.Fatal("it was never interrupted with something found")
		}
		for p := range property.Count {
			if !x.Search.Found.Has(p) {
				continue
			}
			found++
			if r := x.Report.Result(p); x.Traces[p] == nil || r.Violation == nil || !x.Report.Interrupted {
				t.Errorf("interrupted after %d looks: %s was found and is not shown", n, p)
			}
		}
	}
}

// TestExploreCheckpointLost checks that results are returned even if the checkpoint cannot be written.
func TestExploreCheckpointLost(t *testing.T) {
	x, err := explore.Run(t.Context(), explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1}, Search: search.Options{
		Depth: 3, Checkpoint: filepath.Join(t.TempDir(), "no such directory", "checkpoint"),
	}})
	if err != nil || x.Report == nil || x.Search.Err == nil {
		t.Errorf("%+v, %v", x, err)
	}
}

// TestExploreMutex checks that a correct mutex violates nothing, whatever the configured number of slots.
func TestExploreMutex(t *testing.T) {
	target, err := engine.TargetNamed("mutex")
	if err != nil {
		t.Fatal(err)
	}
	for slots := range 3 {
		x, err := explore.Run(t.Context(), explore.Exploration{Target: target, Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: slots}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Report.Properties {
			p := &x.Report.Properties[i]
			if v, _ := x.Report.Verdict(p); v != report.Proved && v != report.Skipped {
				t.Errorf("%d slots: %s is %s", slots, p.Property, v)
			}
		}
	}
}

// TestLeast checks which counterexamples are reported as minimal. A violation of linearizability must never be.
func TestLeast(t *testing.T) {
	x, err := explore.Run(t.Context(), explore.Exploration{
		Workload: explore.Workload{Admins: 2, Rounds: 1, Slots: 2, AdminCalls: calls(callN(lock.Remove, 1), callN(lock.Add, 1), call(lock.Count))},
		Options:  [][2]string{{"admin-mutex", "false"}, {"pipeline", "0"}}, Search: search.Options{Reductions: search.AllReductions},
	})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[property.Property]int{property.AdminExclusion: 3, property.ContiguousSlots: 6, property.ExactCount: 7, property.Linearizable: 7} {
		found := x.Report.Result(p).Violation
		if found == nil || found.Steps != want || found.Least != (p != property.Linearizable) {
			t.Errorf("%s: %+v, expected %d steps", p, found, want)
		}
	}
}

// TestExploreCoversRefresh checks that the outcome "refresh: held" counts as covered for two servers.
func TestExploreCoversRefresh(t *testing.T) {
	for _, name := range []string{"mariadb-slots", "priority-lock-left"} {
		target, err := engine.TargetNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		x, err := explore.Run(t.Context(), explore.Exploration{Target: target, Workload: explore.Workload{Clients: 1, Rounds: 1, Slots: 1, Calls: calls(call(lock.Acquire), call(lock.Refresh), call(lock.Release))}})
		if err != nil {
			t.Fatal(err)
		}
		if s := x.Report.Space; !slices.Contains(s.Covered, "refresh: held") {
			t.Errorf("%s: covered %v, not covered %v", name, s.Covered, s.NotCovered)
		}
	}
}
