package foreign_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/foreign/foreigntest"
	"github.com/lockproof/lockproof/adapters/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/model/spec"
)

// TestExploreLosesNothing compares the reduction with every order of commands: the histories are the
// same, as far as they differ in what they say, and the runs are fewer.
func TestExploreLosesNothing(t *testing.T) {
	use := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}
	for _, k := range []struct {
		target  *lock.Target
		slots   uint8
		clients []scenario.Client
	}{
		{lock.References[1], 0, []scenario.Client{{Ops: use}, {Ops: use}}},
		{lock.References[0], 1, []scenario.Client{{Ops: use[:1]}, {Ops: use[:1]}}},
		{lock.References[0], 1, []scenario.Client{{Ops: use[:1]}, {Ops: []scenario.Operation{{Op: lock.Count}}}}},
	} {
		stage := newStage(t, k.target, func(c *foreign.Config) {
			o := lock.DefaultOptions()
			o.Pipeline, o.AdminMutex = 0, false
			c.Starter = foreigntest.Machines{Target: k.target, Options: o}
		})
		sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: k.slots}}, Clients: k.clients}
		var histories [2]map[string]int
		var runs [2]*foreign.Exploration
		for i := range runs {
			histories[i] = make(map[string]int)
			var err error
			runs[i], err = stage.Explore(t.Context(), sc, foreign.ExploreOptions{Runs: 3000, Naive: i == 1}, func(x *foreign.Execution) {
				histories[i][essence(x)]++
				if x.Found != 0 {
					t.Errorf("%v", x.Violations)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if runs[i].Incomplete != "" {
				t.Errorf("%s: %s", k.target.Name, runs[i].Incomplete)
			}
		}
		if len(histories[0]) != len(histories[1]) {
			t.Errorf("%s: %d histories, and %d by every order", k.target.Name, len(histories[0]), len(histories[1]))
		}
		if runs[0].Runs+runs[0].Blocked >= runs[1].Runs {
			t.Errorf("%s: %+v is not less than %+v", k.target.Name, runs[0], runs[1])
		}
		t.Logf("%s: %d histories by %d runs and %d blocked, instead of %d", k.target.Name, len(histories[0]), runs[0].Runs, runs[0].Blocked, runs[1].Runs)
	}
}

// TestExploreFindsRace visits a lock that misses a race until it has met it.
func TestExploreFindsRace(t *testing.T) {
	i := slices.IndexFunc(mutant.All, func(m *lock.Target) bool { return m.Name == "locked-is-success" })
	stage := newStage(t, mutant.All[i], nil)
	acquire := scenario.Client{Ops: []scenario.Operation{{Op: lock.Acquire}}}
	sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{acquire, acquire}}
	var found spec.PropertySet
	e, err := stage.Explore(t.Context(), sc, foreign.ExploreOptions{Runs: 1000}, func(x *foreign.Execution) { found |= x.Found })
	if err != nil || e.Incomplete != "" || !found.Has(spec.MutualExclusion) {
		t.Errorf("%+v, %v: %b", e, err, found)
	}
}

// essence is what a history says: what each client called and was told, and which operation was over
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
		case e.Process == spec.Nemesis:
		case e.Type == spec.Invoke:
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
