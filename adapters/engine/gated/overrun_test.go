package gated_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// leaving is a mutex whose acquire is left to itself when its time is up. What it gets then is given back, unless keeps says
// otherwise: then nobody knows of it.
type leaving struct {
	inner *mutexes.Mutex
	keeps bool
	busy  sync.Mutex
}

func (l *leaving) Acquire(ctx context.Context, name string) (int, error) {
	l.busy.Lock()
	defer l.busy.Unlock()
	return l.inner.Acquire(ctx, name)
}

func (l *leaving) Verify(ctx context.Context, name string, slot int) (bool, error) {
	l.busy.Lock()
	defer l.busy.Unlock()
	return l.inner.Verify(ctx, name, slot)
}

func (l *leaving) Release(ctx context.Context, name string, slot int) error {
	l.busy.Lock()
	defer l.busy.Unlock()
	return l.inner.Release(ctx, name, slot)
}

func (l *leaving) AcquireWithin(ctx context.Context, name string, timeout time.Duration) (int, error) {
	type result struct {
		slot int
		err  error
	}
	over, late := make(chan result), make(chan struct{})
	l.busy.Lock()
	go func() {
		defer l.busy.Unlock()
		slot, err := l.inner.Acquire(ctx, name)
		select {
		case over <- result{slot, err}:
		case <-late:
			if slot > 0 && !l.keeps {
				_ = l.inner.Release(ctx, name, slot)
			}
		}
	}()
	select {
	case r := <-over:
		return r.slot, r.err
	case <-time.After(timeout):
		close(late)
		return 0, nil
	}
}

func (l *leaving) Close() error { return l.inner.Close() }

// TestTimeUpAtTheGate: that a client's time is up may come while its command is at the gate. What it gets after that, and does
// not know of, is found; giving it back is right, and so is not to have got a lock that was free all along.
func TestTimeUpAtTheGate(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		runner, err := external.NewRunner(t.Context(), external.Config{Kind: lock.Mutex, Starter: inprocess.Starter{
			Name: "leaving", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
				m, err := mutexes.New(ctx, url, mutexes.Token{})
				return &leaving{inner: m, keeps: keeps}, err
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { runner.Close() })
		found := 0
		for at := range uint16(20) {
			x := play(t, runner, runner.Playable(scenario.Scenario{
				Locks:   []scenario.Lock{{Name: "jobs"}},
				Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}, {Op: lock.Acquire, Arg: scenario.Waiting}}}},
				Faults:  []scenario.Fault{{Do: scenario.Advance, At: 1 + at}},
			}))
			if x.Found.Has(property.NoLeak) {
				found++
			}
			if x.Found&^property.Set(0).With(property.NoLeak) != 0 {
				t.Errorf("keeps %v, time is up after %d steps: %v", keeps, 1+at, x.Violations)
			}
		}
		if keeps != (found > 0) {
			t.Errorf("keeps %v: what it does not know of was found in %d executions", keeps, found)
		}
	}
}
