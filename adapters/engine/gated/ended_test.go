package gated

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestEnded checks when a run stops because its clients end by themselves. Clients that sometimes end do not stop the
// run, because it may find other bugs. Clients that end in nearly every execution stop it soon.
func TestEnded(t *testing.T) {
	for _, c := range []struct {
		died, executions int
		ends             bool
	}{{9, 9, false}, {10, 10, true}, {10, 39, false}, {60, 100, false}, {18, 20, true}, {99, 1000, false}, {100, 1000, true}} {
		var run totals
		run.free.Died, run.sum.Scenarios = c.died, c.executions
		if ends := run.Ended(); ends != c.ends {
			t.Errorf("%d deaths in %d executions end the run: %v, expected %v", c.died, c.executions, ends, c.ends)
		}
	}
}

// TestStaysEnded checks that a run which stopped because its clients ended stays stopped while its last executions
// complete. A campaign that contains the run must be stopped as well.
func TestStaysEnded(t *testing.T) {
	var run sharedRun
	for i := range someCrashes + 5 {
		x := &foreign.Execution{Trace: new(scenario.Trace)}
		if i < someCrashes {
			x.Uncontrolled.Died = 1
		}
		run.take(i, x)
	}
	var sum Part
	sum.Merge(&Part{run.totals})
	if !run.Ended() || !sum.Ended() {
		t.Errorf("ended: %v, and what it is a part of: %v", run.Ended(), sum.Ended())
	}
}
