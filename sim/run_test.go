package sim_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// rapidCoin is a coin whose bits the library rapid draws.
type rapidCoin struct{ t *rapid.T }

var bit = rapid.Bool()

func (c rapidCoin) Flip() bool { return bit.Draw(c.t, "bit") }

// byRapid returns rapid's generator of scenarios of a space.
func byRapid(space sim.Space) *rapid.Generator[scenario.Scenario] {
	return rapid.Custom(func(t *rapid.T) scenario.Scenario { return sim.Draw(&space, rapidCoin{t}) })
}

// TestSourceIsRapids: a source draws the same scenarios as the library rapid does from the same seed.
func TestSourceIsRapids(t *testing.T) {
	space := sim.Space{Target: amqplock.References[0]}
	scenarios, source := byRapid(space), sim.NewSource(space, 0)
	for i := range 1000 {
		if got, want := source.Scenario(i), scenarios.Example(i); !reflect.DeepEqual(got, want) {
			t.Fatalf("scenario %d:\n got %+v\nwant %+v", i, got, want)
		}
	}
}

// TestReferenceHolds: in random scenarios, the reference locks violate nothing, and the monitor constructs a
// linearization of every execution.
func TestReferenceHolds(t *testing.T) {
	for _, target := range amqplock.References {
		t.Run(target.Name, func(t *testing.T) {
			scenarios := byRapid(sim.Space{Target: target})
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

// BenchmarkScenarios measures drawing a scenario, and running it with the monitor.
func BenchmarkScenarios(b *testing.B) {
	target := amqplock.References[0]
	source := sim.NewSource(sim.Space{Target: target}, 1)
	b.Run("draw", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			source.Scenario(i)
		}
	})
	b.Run("run", func(b *testing.B) {
		scenarios := make([]scenario.Scenario, 1000)
		for i := range scenarios {
			scenarios[i] = source.Scenario(i)
		}
		var r sim.Runner
		steps := 0
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			steps += r.Run(target, &scenarios[i%len(scenarios)])
		}
		b.ReportMetric(float64(steps)/float64(b.N), "steps/scenario")
	})
}
