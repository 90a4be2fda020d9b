package gated_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// leaving is a mutex whose acquire continues in the background when its time is up. If the background acquire succeeds,
// it releases the lock again. With keeps it does not, so that a lock stays taken without a client's knowledge.
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

// TestTimeUpAtTheGate lets a client's waiting time end while its command waits at the gate. If the client then gets the
// lock without knowing it, this must be found. A client that releases the lock is correct, even if it failed to get a
// lock that was free.
func TestTimeUpAtTheGate(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{false, true} {
		runner := runnerOf(t, lock.Mutex, foreign.Timing{}, func(ctx context.Context, url string) (inprocess.Lock, error) {
			m, err := mutexes.New(ctx, url, mutexes.Token{})
			return &leaving{inner: m, keeps: keeps}, err
		})
		found := 0
		for at := range uint16(20) {
			x := play(t, runner, runner.Playable(scenario.Scenario{
				Locks:   []scenario.Lock{{Name: "jobs"}},
				Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}, {Op: lock.Acquire, Arg: scenario.Waiting}}}},
				Faults:  []scenario.Fault{{Do: scenario.Advance, At: 1 + at}},
			}))
			if x.Found&wrong != 0 {
				found++
			}
		}
		if keeps != (found > 0) {
			t.Errorf("keeps %v: what it does not know of was found in %d executions", keeps, found)
		}
	}
}

// TestTimeUpOfSeveralConnections does the same as TestTimeUpAtTheGate for a client with several connections that keeps
// the lock.
func TestTimeUpOfSeveralConnections(t *testing.T) {
	t.Parallel()
	for at := range uint16(6) {
		runner := runnerOf(t, lock.Mutex, foreign.Timing{}, func(ctx context.Context, url string) (inprocess.Lock, error) {
			m, err := mutexes.New(ctx, url, mutexes.Queue{Prober: true})
			return &leaving{inner: m, keeps: true}, err
		})
		x := play(t, runner, runner.Playable(scenario.Scenario{
			Locks:   []scenario.Lock{{Name: "jobs"}},
			Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire, Arg: scenario.Waiting}}}},
			Faults:  []scenario.Fault{{Do: scenario.Advance, At: 1 + at}},
		}))
		if x.Found&wrong != 0 {
			return
		}
	}
	t.Error("what it does not know of was not found")
}

// lateMutex is a mutex that waits for each reply and then checks its clock. If the lock came too late, it releases the
// lock and reports failure. With keeps it does not release, so that a lock stays taken without a client's knowledge.
type lateMutex struct {
	*mutexes.Mutex
	keeps bool
}

func (b *lateMutex) AcquireWithin(ctx context.Context, name string, timeout time.Duration) (int, error) {
	const pause = 20 * time.Millisecond
	for end := time.Now().Add(timeout); ; time.Sleep(pause) {
		slot, err := b.Acquire(ctx, name)
		switch late := time.Now().After(end); {
		case err != nil || slot > 0 && !late:
			return slot, err
		case late && slot > 0 && !b.keeps:
			return 0, b.Release(ctx, name, slot)
		case late:
			return 0, nil
		}
	}
}

// TestTimeUpBeforeGrant lets a client's waiting time end just before it is granted the lock, at each step in turn. A
// client that keeps a lock which came too late must be found, and again in the replay. A client that releases it is
// correct.
func TestTimeUpBeforeGrant(t *testing.T) {
	t.Parallel()
	for name, design := range map[string]mutexes.Design{"message": mutexes.Token{}, "queue": mutexes.Queue{AsksFirst: true}} {
		for _, keeps := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, keeps %v", name, keeps), func(t *testing.T) {
				t.Parallel()
				runner := runnerOf(t, lock.Mutex, foreign.Timing{}, func(ctx context.Context, url string) (inprocess.Lock, error) {
					m, err := mutexes.New(ctx, url, design)
					return &lateMutex{Mutex: m, keeps: keeps}, err
				})
				found := false
				for i := range inShort(10) {
					sc := runner.Playable(scenario.Scenario{
						Locks:   []scenario.Lock{{Name: "jobs"}},
						Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire, Arg: scenario.Waiting}}}},
						Faults:  []scenario.Fault{{Do: scenario.Advance, At: uint16(1 + i)}},
					})
					var x, again *foreign.Execution
					for range 4 { // the client's own clock may make execution and replay differ: tries again
						x = play(t, runner, sc)
						if again = play(t, runner, sim.Replay(x.Trace)); x.Found&wrong == again.Found&wrong {
							break
						}
					}
					if x.Found&wrong != again.Found&wrong || !keeps && x.Found&wrong != 0 {
						t.Errorf("execution %d: %v, replayed %v", i+1, x.Violations, again.Violations)
					}
					found = found || x.Found&wrong != 0
				}
				if found != keeps {
					t.Errorf("keeps %v: found %v", keeps, found)
				}
			})
		}
	}
}
