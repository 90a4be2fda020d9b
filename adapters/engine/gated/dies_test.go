package gated

import "testing"

// Clients that end by themselves now and then do not end a run: other bugs may be behind that one. Those that always do, end it soon.
func TestDiesTooOften(t *testing.T) {
	for _, c := range []struct {
		died, executions int
		ends             bool
	}{{9, 9, false}, {10, 10, true}, {10, 39, false}, {60, 100, false}, {18, 20, true}, {99, 1000, false}, {100, 1000, true}} {
		var run totals
		run.free.Died, run.sum.Scenarios = c.died, c.executions
		if ends := run.diesTooOften(); ends != c.ends {
			t.Errorf("%d deaths in %d executions end the run: %v, expected %v", c.died, c.executions, ends, c.ends)
		}
	}
}
