package explore_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/explore"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim/search"
)

// TestExploreJudgesUnwitnessed explores locks whose only bug is a wrong answer. The monitor cannot construct a
// linearization of such an execution, so its history must be checked. Linearizability must be violated, both in an
// exploration and in random executions.
func TestExploreJudgesUnwitnessed(t *testing.T) {
	for name, e := range map[string]explore.Exploration{
		"first-slot-only": {Workload: explore.Workload{Clients: 2, Slots: 2, Calls: calls(call(lock.Acquire))}},
		"wait-tires": {
			Workload: explore.Workload{
				Clients: 1, Admins: 1, Slots: 1, Calls: calls(call(lock.Acquire)), AdminCalls: calls(callN(lock.Remove, 1), callN(lock.Wait, 1)),
			},
			Options: [][2]string{{"polls", "0"}},
		},
	} {
		var err error
		if e.Target, err = engine.TargetNamed(name); err != nil {
			t.Fatal(err)
		}
		e.Rounds, e.Properties = 1, 1<<property.Linearizable
		e.Search = search.Options{Reductions: search.AllReductions, Workers: 1}
		for _, e.Walks = range []int{0, 200} {
			x, err := explore.Run(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			r := x.Report.Result(property.Linearizable)
			if v, _ := x.Report.Verdict(r); v != report.Violated {
				t.Errorf("%s, %d walks: linearizable is %s; %s", name, e.Walks, v, r.Unclear)
			}
			if x.Traces[property.Linearizable] == nil {
				t.Errorf("%s, %d walks: no execution shows it", name, e.Walks)
			}
		}
	}
}

// TestWalksJudgeUnwitnessed checks random executions for which the monitor constructs no linearization. Their histories
// must be checked, so that linearizability is not undecided.
func TestWalksJudgeUnwitnessed(t *testing.T) {
	e := explore.Exploration{Workload: explore.Workload{Clients: 2, Rounds: 1, Slots: 2}, Walks: 200, Judging: engine.Judging{Properties: 1 << property.Linearizable}}
	var err error
	if e.Target, err = engine.TargetNamed("locked-is-full"); err != nil {
		t.Fatal(err)
	}
	x, err := explore.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	r := x.Report.Result(property.Linearizable)
	if v, _ := x.Report.Verdict(r); v == report.Undecided {
		t.Errorf("linearizable is %s: %s", v, r.Unclear)
	}
}
