package compare

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// locksNamed returns the targets with these names.
func locksNamed(t *testing.T, names ...string) (all []*lock.Target) {
	t.Helper()
	for _, name := range names {
		target, err := engine.TargetNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, target)
	}
	return all
}

// TestCompare compares two correct locks and two mutants. The correct locks must be proved with every kind of fault. A
// mutant must violate a property only with those faults that its bug needs.
func TestCompare(t *testing.T) {
	c, err := Run(t.Context(), Config{Targets: locksNamed(t, "mutex", "consumer-mutex", "mutex-verify-reconnects", "mutex-release-forgets"), Scenarios: 200, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if lost := c.Losers(); !slices.Equal(lost, []string{"mutex-verify-reconnects", "mutex-release-forgets"}) {
		t.Errorf("%q lose a property", lost)
	}
	for i := range c.Rows[:2] {
		for _, f := range c.Rows[i].Faults[:len(c.Rows[i].Faults)-1] {
			if f.Verdict() != report.Proved || f.Cut != "" || f.States == 0 {
				t.Errorf("%s with %s: %+v", c.Rows[i].Target, f.Fault, f)
			}
		}
		if last := c.Rows[i].Faults[len(c.Rows[i].Faults)-1]; last.Verdict() != report.Passed {
			t.Errorf("%s: what was drawn is %s, expected that it has passed", c.Rows[i].Target, last.Verdict())
		}
		if len(c.Rows[i].Cost) == 0 || c.Rows[i].Real != nil {
			t.Errorf("%+v", c.Rows[i])
		}
	}
	for k, f := range c.Rows[2].Faults { // this mutant fails only if the broker drops a connection
		lost := slices.Contains(f.Verdicts, report.PropertyVerdict{Property: property.HonestVerify, Verdict: report.Violated})
		if drops := c.Faults[k] == "drop"; lost != drops && c.Faults[k] != "restart" && c.Faults[k] != "lost" && c.Faults[k] != anyFaults {
			t.Errorf("mutex-verify-reconnects with %s: honest-verify lost: %v", f.Fault, lost)
		}
	}
	if f := c.Rows[3].Faults[0]; f.Fault != "none" || f.Verdict() != report.Violated { // the bug needs no fault
		t.Errorf("mutex-release-forgets without a fault: %+v", f)
	}
}

// TestCompareEnds checks that a comparison keeps its rows, and says that it is incomplete, if it is interrupted or its
// real server fails.
func TestCompareEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	targets := locksNamed(t, "mutex", "consumer-mutex")
	cfg := Config{Targets: targets, Scenarios: 10, Progress: func(done, _ int, _ *lock.Target) {
		if done == 1 {
			cancel()
		}
	}}
	c, err := Run(ctx, cfg)
	if err != nil || !c.Interrupted || len(c.Rows) != 1 || c.Of != 2 {
		t.Errorf("interrupted: %+v, %v", c, err)
	}
	gone := errors.New("the server is gone")
	cfg = Config{Targets: targets, Scenarios: 10, Measure: func(_ context.Context, target *lock.Target) (*report.Measured, string, error) {
		if target == targets[1] {
			return nil, "", gone
		}
		return nil, "there is none", nil
	}}
	c, err = Run(t.Context(), cfg)
	if !errors.Is(err, gone) || len(c.Rows) != 1 || c.Rows[0].NotMeasured != "there is none" {
		t.Errorf("a server that fails: %+v, %v", c, err)
	}
}
