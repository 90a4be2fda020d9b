package external_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// abrupt is a tidy semaphore that looks whether it is there before it takes a slot, and gives up its connection if it then is not.
type abrupt struct{ tidy }

func (s *abrupt) Acquire(ctx context.Context, name string) (int, error) {
	ch, err := s.channel()
	if err != nil {
		return 0, err
	}
	q, err := ch.QueueDeclarePassive("slots-"+name, true, false, false, false, nil)
	if err != nil || q.Messages == 0 {
		return 0, ch.Close()
	}
	if err := ch.Qos(1, 0, false); err != nil {
		return 0, err
	}
	if _, err := ch.QueueDeclarePassive(q.Name, true, false, false, false, nil); err != nil {
		return 0, errors.Join(err, s.conn.Close())
	}
	return s.tidy.Acquire(ctx, name)
}

func (s *abrupt) Verify(ctx context.Context, name string, slot int) (bool, error) {
	if s.holds[name] != nil && s.conn.IsClosed() {
		delete(s.holds, name)
	}
	return s.tidy.Verify(ctx, name, slot)
}

// TestTakenAway: where somebody takes away what a client is about to acquire, its process may give up its connection for that, and what
// else it has by it.
func TestTakenAway(t *testing.T) {
	runner, err := external.NewRunner(t.Context(), external.Config{Kind: lock.Semaphore, Starter: inprocess.Starter{
		Name: "abrupt", New: func(_ context.Context, url string) (inprocess.Lock, error) { return &abrupt{tidy{url: url}}, nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks: []scenario.Lock{{Name: "jobs", Slots: 1}, {Name: "other", Slots: 1}},
		Clients: []scenario.Client{
			{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{{Op: lock.Destroy}}},
			{Lock: 1, With: 1, Ops: []scenario.Operation{acquire, {Op: lock.Verify}}},
		},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(3, 6), steps(1, 3), steps(2, 3), steps(1, 3), steps(3, 3))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if x.Found != 0 {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}
