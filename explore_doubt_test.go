package lockproof_test

import (
	"testing"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/spec"
	"github.com/lockproof/lockproof/sim/search"
)

// TestExploreJudgesDoubts: a lock that is wrong in what it answers alone is not proved linearizable. The
// search has to come to every execution that is not its own witness, and to judge its history.
func TestExploreJudgesDoubts(t *testing.T) {
	for name, e := range map[string]lockproof.Exploration{
		"first-slot-only": {Clients: 2, Slots: 2, Calls: calls(call(lock.Acquire))},
		"wait-tires": {
			Clients: 1, Admins: 1, Slots: 1, Calls: calls(call(lock.Acquire)),
			AdminCalls: calls(callN(lock.Remove, 1), callN(lock.Wait, 1)), Options: [][2]string{{"polls", "0"}},
		},
	} {
		var err error
		if e.Target, err = lockproof.TargetNamed(name); err != nil {
			t.Fatal(err)
		}
		e.Rounds, e.Properties = 1, 1<<spec.Linearizable
		e.Search = search.Options{Reductions: search.AllReductions, Workers: 1}
		x, err := lockproof.Explore(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Report.Properties {
			r := &x.Report.Properties[i]
			if v, _ := x.Report.Verdict(r); r.Property == spec.Linearizable && v != histories.Violated {
				t.Errorf("%s: linearizable is %s, with %d operations that ended in doubt", name, v, x.Search.Doubted)
			}
		}
		if x.Traces[spec.Linearizable] == nil {
			t.Errorf("%s: no execution shows it", name)
		}
	}
}
