package external_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// stuck is a semaphore whose administrators do not come back, and have the lock's exclusive queue meanwhile.
type stuck struct{ tidy }

func (s *stuck) Create(ctx context.Context, name string, slots int) error {
	ch, err := s.channel()
	if err != nil {
		return err
	}
	if _, err := ch.QueueDeclare("admin-"+name, false, false, true, false, nil); err != nil {
		return err
	}
	if slots == 9 {
		<-ctx.Done()
		return ctx.Err()
	}
	if err := s.tidy.Create(ctx, name, slots); err != nil {
		return err
	}
	if _, err := ch.QueueDelete("admin-"+name, false, false, false); err != nil {
		return err
	}
	return ch.Close()
}

// TestGivenUp: an operation that is waited for in vain does not progress; what it has is not left behind by it.
func TestGivenUp(t *testing.T) {
	runner, err := external.NewRunner(t.Context(), external.Config{
		Kind: lock.Semaphore, Timing: external.Timing{Patience: 50 * time.Millisecond, Limit: 100 * time.Millisecond},
		Starter: inprocess.Starter{
			Name: "stuck", New: func(_ context.Context, url string) (inprocess.Lock, error) { return &stuck{tidy{url: url}}, nil },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Create, Arg: 9}}}, {}},
		Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if x.Found != property.Set(0).With(property.Progress) {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}
