package foreign_test

import (
	"context"
	"slices"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/golang"
	"github.com/lockproof/lockproof/adapters/mutant"
	"github.com/lockproof/lockproof/adapters/rabbitmq"
	"github.com/lockproof/lockproof/adapters/rabbitmq/rabbitmqtest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
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

// meddler is a client that deletes the first slot past the gate before it acquires.
type meddler struct {
	*amqplocks.Client
	ch *amqp091.Channel
}

func (m meddler) Acquire(ctx context.Context, name string) (int, error) {
	if _, err := m.ch.QueueDelete(name+"-1-A", false, false, false); err != nil {
		return 0, err
	}
	return m.Client.Acquire(ctx, name)
}

// TestRealDisagreement: where the real broker does something else than the simulated one, what it has is not known
// any more; that is said, and the next scenario begins anew.
func TestRealDisagreement(t *testing.T) {
	url := rabbitmqtest.URL(t)
	conn, err := amqp091.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	stage, err := foreign.NewStage(t.Context(), foreign.Config{
		URL: url, Sweep: (&rabbitmq.Broker{URL: url}).Sweep, Kind: lock.Semaphore,
		Starter: golang.Starter{Name: "meddler", New: func(ctx context.Context, url string) (golang.Lock, error) {
			c, err := amqplocks.New(ctx, url)
			return meddler{c, ch}, err
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	acquire := []scenario.Operation{{Op: lock.Acquire}}
	sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: acquire}}}
	for range 2 {
		x, err := stage.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Disagreement == "" || x.Uncontrolled.Disagreed != 1 {
			t.Errorf("no disagreement: %+v", x.Uncontrolled)
		}
	}
}
