package plugin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/orders"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestExplore visits every order of commands, with leases that may end at every point, and finds the expected
// violations. The reduced exploration shows every history that the full one shows.
func TestExplore(t *testing.T) {
	calls := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}
	for _, c := range []struct {
		design  string
		clients int
		faults  sim.FaultBounds
		found   property.Set
	}{
		{"right", 2, sim.FaultBounds{Lapses: 2}, 0},
		{"right", 2, sim.FaultBounds{Lapses: 1, Crashes: 1}, 0},
		{"right", 3, sim.FaultBounds{Lapses: 1}, 0},
		{"deletes anybody's", 3, sim.FaultBounds{}, 0},
		{"deletes anybody's", 3, sim.FaultBounds{Lapses: 1}, property.Set(0).With(property.MutualExclusion)},
		{"asks, then sets", 2, sim.FaultBounds{}, property.Set(0).With(property.MutualExclusion)},
	} {
		t.Run(fmt.Sprintf("%s, %d clients, %+v", c.design, c.clients, c.faults), func(t *testing.T) {
			runner := runnerOf(t, starter(named(c.design)), 1)
			sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs"}}}
			for range c.clients {
				sc.Clients = append(sc.Clients, scenario.Client{Ops: calls})
			}
			less, found := shown(t, runner, sc, orders.Options{Runs: 1e6, Faults: c.faults})
			if found != c.found {
				t.Errorf("found %v, not %v", found.Names(), c.found.Names())
			}
			if testing.Short() || c.clients > 2 {
				return
			}
			all, _ := shown(t, runner, sc, orders.Options{Runs: 1e6, Faults: c.faults, Naive: true})
			for told := range all {
				if !less[told] {
					t.Fatalf("the reduction loses an execution:\n%s", told)
				}
			}
		})
	}
}

// TestScripts: some clients run a script by its digest, and send its text only if the server does not know it. The
// server forgets scripts between executions, so such clients behave the same each time.
func TestScripts(t *testing.T) {
	runner := runnerOf(t, starter(named("verifies by a script")), 1)
	calls := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Release}}
	sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: calls}, {Ops: calls}}}
	if _, found := shown(t, runner, sc, orders.Options{Runs: 1e6}); found != 0 {
		t.Error(found.Names())
	}
}

// shown explores a scenario. It returns the histories that occur, and the violated properties other than promises.
func shown(t *testing.T, runner *foreign.Runner, sc scenario.Scenario, o orders.Options) (all map[string]bool, found property.Set) {
	t.Helper()
	all = make(map[string]bool)
	sum, err := runner.Explore(t.Context(), runner.Playable(sc), o, func(x *foreign.Execution) error {
		var b strings.Builder
		for _, e := range x.History.Events {
			if e.F == history.Audit {
				break
			}
			if e.Process != history.Nemesis {
				fmt.Fprintln(&b, e.Process, e.Type, e.F, e.Held)
			}
		}
		all[b.String()] = true
		found |= x.Found &^ property.Promises
		return nil
	})
	if err != nil || sum.Incomplete != "" {
		t.Fatal(sum, err)
	}
	return all, found
}
