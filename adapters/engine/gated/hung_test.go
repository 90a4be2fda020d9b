package gated_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// deaf is a mutex whose waiters miss that the mutex is free again, and wait for ever.
type deaf struct{ *mutexes.Mutex }

func (d deaf) AcquireWithin(ctx context.Context, name string, _ time.Duration) (int, error) {
	if slot, err := d.Acquire(ctx, name); err != nil || slot > 0 {
		return slot, err
	}
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestHungTogether: clients that wait for ever for a lock that nobody holds are found out, though there are two of
// them.
func TestHungTogether(t *testing.T) {
	t.Parallel()
	runner := runnerOf(t, lock.Mutex, foreign.Timing{Limit: 500 * time.Millisecond}, func(ctx context.Context, url string) (inprocess.Lock, error) {
		m, err := mutexes.New(ctx, url, mutexes.Queue{})
		return deaf{m}, err
	})
	const a, r = lock.Acquire, lock.Release
	waits := scenario.Client{Ops: []scenario.Operation{{Op: a, Arg: scenario.Waiting}}}
	for _, waiters := range []int{1, 2} {
		sc := scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs"}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: a}, {Op: r}}}},
			Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2, 3}, Changes: []uint16{2}},
		}
		for range waiters {
			sc.Clients = append(sc.Clients, waits)
		}
		x := play(t, runner, runner.Playable(sc))
		if !x.Found.Has(property.Progress) || x.Uncontrolled.Hung != waiters {
			t.Errorf("%d clients wait for ever: %v, %+v", waiters, x.Violations, x.Uncontrolled)
		}
	}
}
