package external_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// TestChannelOfHold: what is held by a channel goes with it, whenever that ends: who asks on that channel whether it is
// still held learns it, and who asks on another does not.
func TestChannelOfHold(t *testing.T) {
	for _, test := range []struct {
		name   string
		design semaphores.Design
		wrong  bool
	}{
		{"a token", semaphores.Tokens{}, false},
		{"a token, asked for on another channel", semaphores.Tokens{OtherChannel: true}, true},
		{"a consumer", semaphores.Consumers{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			runner, err := external.NewRunner(t.Context(), external.Config{Kind: lock.Semaphore, Starter: inprocess.Starter{
				Name: "semaphore", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
					return semaphores.New(ctx, url, test.design)
				},
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			var found property.Set
			ops := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Verify}, {Op: lock.Verify}}
			for at := uint16(0); at < 14; at++ {
				sc := runner.Playable(scenario.Scenario{
					Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: ops}},
					Faults: []scenario.Fault{{Do: scenario.ChannelError, Client: 1, At: at}},
				})
				x, err := runner.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(err)
				}
				if found |= x.Found; x.Found != 0 && !test.wrong {
					t.Errorf("a channel that ends at %d: %v\n%s", at, x.Violations, drawn(x))
				}
			}
			if test.wrong && !found.Has(property.StaleBeliefEnds) {
				t.Errorf("found %v, expected stale-belief-ends", found.BySeverity())
			}
		})
	}
}
