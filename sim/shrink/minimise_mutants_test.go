package shrink_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/sim/shrink"

	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestMinimiseMutants compares minimised executions of mutants with a file: the result, and the number of scenarios
// tried. A minimiser that has lost one of its edits leaves more, or needs more tries.
func TestMinimiseMutants(t *testing.T) {
	var out strings.Builder
	for _, c := range []struct {
		mutant string
		first  int // number of the first scenario to try
		tries  int
	}{
		{"locked-is-success", 0, 4000}, {"locked-is-success", 500, 4000}, {"first-slot-only", 0, 4000}, {"no-second-probe", 0, 4000},
		{"admin-goes-on", 0, 4000}, {"ascending-removal", 0, 4000}, {"holder-expires", 0, 4000}, {"slots-expire", 0, 4000},
		{"verify-reconnects", 0, 4000}, {"names-run-together", 0, 4000}, {"wait-forever", 0, 4000}, {"retries-forever", 0, 4000},
		{"mutex-shared", 0, 4000}, {"one-connection", 0, 4000}, {"slots-transient", 0, 4000},
		{"gives-up-silently", 0, 4000}, {"timeout-is-refusal", 0, 4000}, {"locked-is-success", 0, 40}, {"holder-expires", 0, 300},
	} {
		minimised(t, &out, mutant.Named(c.mutant), c.first, c.tries)
	}
	historiestest.Golden(t, "minimised.txt", out.String())
}

// minimised writes the minimised form of the first scenario in which a mutant violates its property.
func minimised(t *testing.T, out *strings.Builder, target *lock.Target, first, tries int) {
	p, err := property.Named(target.Breaks)
	if err != nil {
		t.Fatal(err)
	}
	var r sim.Runner
	source := sim.NewSource(sim.Space{Target: target}, 1)
	carried := 0
	attempt := func(s *scenario.Scenario) ([]scenario.Action, bool) {
		carried++
		return sim.Violating(r.Trace(target, s, property.Weak), p)
	}
	for i := first; ; i++ {
		s := source.Scenario(i)
		tr := r.Trace(target, &s, property.Weak)
		if _, shown := sim.Violating(tr, p); !shown {
			continue
		}
		before := sim.Replay(tr)
		least := shrink.Minimise(t.Context(), before, attempt, func(option string) bool { return option != "order" }, tries)
		fmt.Fprintf(out, "## %s: scenario %d, %d steps, %d carried out of at most %d\n", target.Name, i, len(before.Schedule.Actions), carried, tries)
		for _, l := range least.Locks {
			fmt.Fprintf(out, "lock %s slots %d\n", l.Name, l.Slots)
		}
		for _, c := range least.Clients {
			fmt.Fprintf(out, "client lock %d %v\n", c.Lock, c.Ops)
		}
		fmt.Fprintf(out, "options %v\n", least.Options.Changed())
		for _, a := range least.Schedule.Actions {
			fmt.Fprintln(out, a)
		}
		out.WriteString("\n")
		return
	}
}
