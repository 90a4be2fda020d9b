package engine_test

import (
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/sim"
)

// TestLimitsByHistory judges histories of every mutant whose callers state limits on the number of holders. Where the
// history alone shows an exceeded limit, the monitor, which sees the server's state, must have found it as well.
// Mutants whose bug is to exceed limits must show at least one violation.
func TestLimitsByHistory(t *testing.T) {
	t.Parallel()
	for _, target := range engine.Mutants() {
		if !target.Traits.Has(lock.Limits) {
			continue
		}
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			var r sim.Runner
			source := sim.NewSource(sim.Space{Target: target}, 1)
			judged, illegal := 0, 0
			for i := range 3000 {
				s := source.Scenario(i)
				r.Run(target, &s)
				h := r.History()
				v := beliefs.Limits(&h)
				judged += v.Checked
				if v.Decision != linear.Illegal {
					continue
				}
				if illegal++; !r.Monitor.Found.Has(property.LimitRespected) {
					t.Fatalf("execution %d: %s, and by what the server had it did not", i, v.Why)
				}
			}
			t.Logf("%d grants judged, %d executions wrong", judged, illegal)
			if judged < 1000 || illegal == 0 && target.Breaks == property.LimitRespected.String() {
				t.Errorf("%d grants were judged, and %d executions found wrong", judged, illegal)
			}
		})
	}
}
