package gated_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/subprocess"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/property"
)

// withoutFork runs a Python program as on a system where processes cannot fork.
const withoutFork = `exec /usr/bin/python3 -c '
import os, runpy, sys
del os.fork
sys.path[0] = os.path.dirname(sys.argv[1])
runpy.run_path(sys.argv.pop(1), run_name="__main__")' %s`

// TestForkedAlike checks that the report is the same whether clients are forked or started anew, and whatever the
// number of workers.
func TestForkedAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the examples in several languages")
	}
	e := enginetest.Examples[1]
	e.Need(t)
	t.Parallel()
	dir, err := filepath.Abs(e.Dir())
	if err != nil {
		t.Fatal(err)
	}
	card := func(s foreign.Starter, workers, more int) string {
		// These clients do not read a clock.
		c := gated.Config{Lock: gated.Lock{Starter: s}, Sampling: engine.Sampling{Seed: 1, Scenarios: 60, Workers: workers}, More: more}
		for _, p := range []property.Property{property.MutualExclusion, property.Linearizable, property.NoLeak, property.Progress} {
			c.Properties = c.Properties.With(p) // only properties without cost: costs depend on the clock
		}
		res, err := gated.Prove(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Traces) > 0 {
			t.Errorf("a right lock is accused of %v", res.Traces)
		}
		res.Report.Uncontrolled = nil
		res.Report.Steps = 0 // may differ: a client that notices a lost connection late makes one more attempt
		return enginetest.Card(t, res)
	}
	started := card(&subprocess.Starter{Command: fmt.Sprintf(withoutFork, filepath.Join(dir, "adapter.py")), Stderr: t.Output()}, 1, 0)
	forked := card(e.Starter(t, ""), 2, 2)
	if started != forked {
		t.Errorf("started:\n%s\nforked, by more workers:\n%s", started, forked)
	}
}
