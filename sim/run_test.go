package sim_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// TestReferenceHolds: whatever rapid draws, the reference locks violate nothing, and every execution
// is its own witness of linearizability.
func TestReferenceHolds(t *testing.T) {
	for _, target := range lock.References {
		t.Run(target.Name, func(t *testing.T) {
			scenarios := sim.Scenarios(sim.Space{Target: target})
			var r sim.Runner
			rapid.Check(t, func(t *rapid.T) {
				s := scenarios.Draw(t, "scenario")
				r.Run(target, &s)
				if r.Monitor.Found != 0 {
					t.Fatalf("violates %v", r.Monitor.Found)
				}
				if !r.Monitor.Witnessed {
					t.Fatal("not its own witness")
				}
			})
		})
	}
}

// BenchmarkScenarios is a whole scenario: drawn, run, and watched by the monitor.
func BenchmarkScenarios(b *testing.B) {
	target := lock.References[0]
	scenarios := sim.Scenarios(sim.Space{Target: target})
	b.Run("draw", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			scenarios.Example(i)
		}
	})
	b.Run("run", func(b *testing.B) {
		drawn := make([]scenario.Scenario, 1000)
		for i := range drawn {
			drawn[i] = scenarios.Example(i)
		}
		var r sim.Runner
		steps := 0
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			steps += r.Run(target, &drawn[i%len(drawn)])
		}
		b.ReportMetric(float64(steps)/float64(b.N), "steps/scenario")
	})
}
