package gated

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// ending starts clients that count their calls together. When the at-th call is made, the run's time ends.
type ending struct {
	foreign.Starter
	calls *atomic.Int64
	at    int64
	end   context.CancelFunc
}

func (s ending) Start(ctx context.Context, number int) (foreign.Client, error) {
	c, err := s.Starter.Start(ctx, number)
	return &endingClient{c, s}, err
}

type endingClient struct {
	foreign.Client
	ending
}

func (c *endingClient) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	if c.calls.Add(1) == c.at {
		c.end()
	}
	return c.Client.Call(ctx, op, p)
}

// TestTimeEndsBetweenExecutions checks that an execution which runs when the run's time ends is still completed and
// judged, and that its violations are still reproduced.
func TestTimeEndsBetweenExecutions(t *testing.T) {
	target, err := engine.TargetNamed("locked-is-success")
	if err != nil {
		t.Fatal(err)
	}
	machines := foreigntest.Machines{Target: target, Options: target.Settled(amqplock.DefaultOptions())}
	for _, at := range []int64{100, 123, 157, 200} {
		whole, end := context.WithCancel(t.Context())
		c := Config{Lock: Lock{Starter: ending{machines, new(atomic.Int64), at, end}}, Sampling: engine.Sampling{Seed: 1, Scenarios: 1000, Workers: 1}}
		run := sharedRun{Config: c, source: c.source(), labels: c.labels(), allowed: engine.Allowance{Whole: whole, Sampling: whole}}
		if err := run.run(t.Context(), 0, run.Scenarios, true); err != nil {
			t.Fatal(err)
		}
		if whole.Err() == nil || run.sum.Scenarios == 0 || run.sum.Scenarios == 1000 {
			t.Errorf("ended at call %d: %d scenarios", at, run.sum.Scenarios)
		}
		if run.free.Hung+run.free.Died > 0 {
			t.Errorf("ended at call %d: %v", at, run.free.Words())
		}
		for p, d := range run.findings {
			if d != nil && (d.tries.Of == 0 || d.found(property.Property(p)).Detail == "") {
				t.Errorf("ended at call %d: %s was found and not tried again", at, property.Property(p))
			}
		}
		if next := run.next; next != run.sum.Scenarios {
			t.Errorf("ended at call %d: %d scenarios were begun, %d judged", at, next, run.sum.Scenarios)
		}
		end()
	}
}
