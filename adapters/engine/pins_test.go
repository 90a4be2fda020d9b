package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/engine/sample"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/internal/pinned"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/sim/search"
)

// TestPins compares results that no refactoring may change with testdata/pins.txt. The file has the numbers of states
// and transitions of explorations, and the execution that shows the bug of the example in Go. For each mutant and three
// seeds it has the execution that finds the bug, and the length of the counterexample. With -rewrite the test writes
// the file. Other tests pin the stored counterexamples, the atlas, and the results of smaller parts; `make pins` runs
// all.
func TestPins(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out what takes a minute")
	}
	var b strings.Builder
	for _, section := range []struct {
		title string
		pins  func(*testing.T) []string
	}{
		{"explorations", pinnedExplorations},
		{"mutants, from seeds 1, 2 and 3", pinnedMutants},
		{"the example in Go", pinnedExample},
	} {
		fmt.Fprintf(&b, "## %s\n%s\n", section.title, strings.Join(append(section.pins(t), ""), "\n"))
	}
	pinned.Text(t, "../../testdata/pins.txt", b.String())
}

// configuration is a named configuration to explore.
type configuration struct {
	name string
	explore.Exploration
}

// explorations are configurations whose numbers of states and transitions are pinned. They cover each kind of fault,
// several clients, administrators and slots, and several options. Each is explored with all reductions and with none.
var explorations = []configuration{
	{"two clients", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 2, Slots: 1}}},
	{"three clients, two slots", explore.Exploration{Workload: explore.Workload{Clients: 3, Rounds: 1, Slots: 2}}},
	{"an administrator", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Admins: 1, Slots: 2}}},
	{"two administrators", explore.Exploration{Workload: explore.Workload{Admins: 2, Rounds: 1, Slots: 2}}},
	{"crashes, noticed late", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1, Faults: sim.FaultBounds{Crashes: 2, Late: true}}}},
	{"crashes, noticed at once", explore.Exploration{Workload: explore.Workload{Clients: 3, Rounds: 1, Slots: 1, Faults: sim.FaultBounds{Crashes: 2}}}},
	{"a drop", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 2, Slots: 1, Faults: sim.FaultBounds{Drops: 1}}}},
	{"a lost reply", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 2, Faults: sim.FaultBounds{Lost: 1, Late: true}}}},
	{"a channel error and a restart", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1, Faults: sim.FaultBounds{ChannelErrors: 1, Restarts: 1}}}},
	{"transactions", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 2}, Options: [][2]string{{"confirm", "transactions"}}}},
	{"shared connection", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 1}, Options: [][2]string{{"connection", "shared"}}}},
	{"random restart", explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 2}, Options: [][2]string{{"restart", "random"}}}},
	{"mutual exclusion alone", explore.Exploration{Workload: explore.Workload{Clients: 3, Rounds: 2, Slots: 1}, Judging: engine.Judging{Properties: property.Set(0).With(property.MutualExclusion)}}},
}

func pinnedExplorations(t *testing.T) (pins []string) {
	for _, e := range explorations {
		for _, reductions := range []search.Reductions{search.AllReductions, {}} {
			e.Search = search.Options{Reductions: reductions}
			x, err := explore.Run(t.Context(), e.Exploration)
			if err != nil {
				t.Fatalf("%s: %v", e.name, err)
			}
			line := fmt.Sprintf("%s, %s: %d states, %d transitions", e.name, inWords(x.Search.Reductions), x.Search.States, x.Search.Transitions)
			for _, p := range x.Search.Found.BySeverity() {
				line += fmt.Sprintf(", %s violated", p)
			}
			pins = append(pins, line)
		}
	}
	return pins
}

// inWords names the reductions that are in use.
func inWords(r search.Reductions) string {
	words := "reduced by"
	for _, reduction := range []struct {
		name string
		used bool
	}{{"symmetry", r.Symmetry}, {"order", r.Order}, {"local steps", r.Local}} {
		if reduction.used {
			words += " " + reduction.name + ","
		}
	}
	if r == (search.Reductions{}) {
		return "not reduced"
	}
	return strings.TrimSuffix(words, ",")
}

func pinnedMutants(t *testing.T) (pins []string) {
	amqp, err := lock.BackendNamed("")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range amqp.Mutants {
		p, err := property.Named(m.Breaks)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		line := fmt.Sprintf("%s, %s:", m.Name, p)
		for seed := range uint64(3) {
			res, err := sample.Prove(t.Context(), sample.Config{
				Target: m, Sampling: engine.Sampling{Seed: seed + 1, Scenarios: sample.MutantLimit, Until: property.Set(0).With(p)},
			})
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			line += fmt.Sprintf(" in execution %d, %d steps;", res.Report.Result(p).Violation.Scenario, len(res.Traces[p].Steps))
		}
		pins = append(pins, strings.TrimSuffix(line, ";"))
	}
	return pins
}

// pinnedExample pins in which execution each bug of the example in Go is found, on the simulated broker. Clients have
// threads of their own, so that minimisation may differ between runs; therefore the minimised length is not pinned.
func pinnedExample(t *testing.T) (pins []string) {
	e := &enginetest.Examples[slices.IndexFunc(enginetest.Examples, func(e enginetest.Example) bool { return e.Folder == "golang" })]
	for _, bug := range slices.Sorted(maps.Keys(e.Breaks)) {
		p := e.Breaks[bug]
		res := e.Prove(t, gated.Server{}, bug, 400, property.Set(0).With(p))
		v := res.Report.Result(p).Violation
		if v == nil {
			t.Fatalf("%s: %s is not violated in %d executions", bug, p, res.Report.Scenarios)
		}
		pins = append(pins, fmt.Sprintf("%s, %s: in execution %d", bug, p, v.Scenario))
	}
	return pins
}
