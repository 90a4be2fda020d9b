package foreign_test

import (
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/mutant"
	"github.com/lockproof/lockproof/adapters/rabbitmq"
	"github.com/lockproof/lockproof/adapters/rabbitmq/rabbitmqtest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
)

// TestRealBroker: an execution on a real RabbitMQ behind the gate is the one on the simulated broker, step by
// step, whatever befalls the clients.
func TestRealBroker(t *testing.T) {
	url := rabbitmqtest.URL(t)
	n := 60
	if testing.Short() {
		n = 20
	}
	real := func(c *foreign.Config) { c.URL, c.Sweep = url, (&rabbitmq.Broker{URL: url}).Sweep }
	targets := slices.Concat(lock.References, []*lock.Target{
		mutant.Named("locked-is-success"), mutant.Named("release-closes-channel"), mutant.Named("no-admin-mutex"),
	})
	for _, target := range targets {
		t.Run(target.Name, func(t *testing.T) {
			simulated, real := newStage(t, target, nil), newStage(t, target, real)
			source := sim.NewSource(sim.Space{Target: target}, 11)
			found := false
			for i := range n {
				sc := real.Playable(source.Scenario(i))
				want, err := simulated.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(err)
				}
				got, err := real.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(err)
				}
				if draw(got) != draw(want) || got.Disagreement != "" {
					t.Fatalf("scenario %d: %s\non the simulated broker\n%s\non the real one\n%s", i, got.Disagreement, draw(want), draw(got))
				}
				found = found || got.Found != 0
			}
			if found == slices.Contains(lock.References, target) {
				t.Errorf("something is violated: %t", found)
			}
		})
	}
}
