package gated_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/gate"
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

// clocked starts clients of deaf mutexes with virtual time. They are at rest between calls. In a call they are at rest
// while they wait for the mutex, unless they compute instead.
type clocked struct {
	computes bool
	slow     time.Duration // how long each acquire computes
}

func (c clocked) Start(ctx context.Context, number int) (foreign.Client, error) {
	client := clockedClient{computes: c.computes, waits: new(atomic.Bool)}
	starter := inprocess.Starter{Name: "deaf", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
		m, err := mutexes.New(ctx, url, mutexes.Queue{})
		return deafClocked{deaf{m}, client.waits, c.slow}, err
	}}
	var err error
	client.Client, err = starter.Start(ctx, number)
	return &client, err
}

type clockedClient struct {
	foreign.Client
	computes bool
	waits    *atomic.Bool
}

func (c *clockedClient) Time() foreign.Time   { return c }
func (c *clockedClient) Begins(time.Duration) {}
func (c *clockedClient) Set(time.Duration)    {}

func (c *clockedClient) Rest(calling bool) (bool, time.Duration) {
	return !calling || c.waits.Load() && !c.computes, 0
}

// watched is a server that says of its addresses that no data is on its way, so that clients may have virtual time.
type watched struct{ gate.Server }

type watchedAddress struct{ gate.Address }

func (watchedAddress) Underway() bool { return false }

func (w watched) Listen(g gate.Gate, l gate.Limits) (gate.Address, error) {
	a, err := w.Server.Listen(g, l)
	return watchedAddress{a}, err
}

func openWatched() (gate.Server, error) {
	s, err := plugin.Simulated()
	return watched{s}, err
}

// deafClocked is a deaf mutex that says when it waits.
type deafClocked struct {
	deaf
	waits *atomic.Bool
	slow  time.Duration
}

func (d deafClocked) Acquire(ctx context.Context, name string) (int, error) {
	time.Sleep(d.slow)
	return d.deaf.Acquire(ctx, name)
}

func (d deafClocked) AcquireWithin(ctx context.Context, name string, within time.Duration) (int, error) {
	if slot, err := d.Acquire(ctx, name); err != nil || slot > 0 {
		return slot, err
	}
	d.waits.Store(true)
	defer d.waits.Store(false)
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestHungPastTheTime: a client with virtual time is wrong if it waits longer than it was told to, even for a lock that
// another client holds. But a client that still computes is slow, and is not accused.
func TestHungPastTheTime(t *testing.T) {
	t.Parallel()
	const a, r = lock.Acquire, lock.Release
	holds, frees := []scenario.Operation{{Op: a}}, []scenario.Operation{{Op: a}, {Op: r}}
	for name, c := range map[string]struct {
		computes, wrong bool
		ops             []scenario.Operation
	}{
		"waits for a holder":       {false, true, holds},
		"waits for nobody":         {false, true, frees},
		"computes beside a holder": {true, false, holds},
		"computes":                 {true, false, frees},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runner := clockedRunner(t, clocked{computes: c.computes})
			x := play(t, runner, runner.Playable(scenario.Scenario{
				Locks:    []scenario.Lock{{Name: "jobs"}},
				Clients:  []scenario.Client{{Ops: c.ops}, {Ops: []scenario.Operation{{Op: a, Arg: scenario.Waiting}}}},
				Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}, Changes: []uint16{2}},
			}))
			if x.Found.Has(property.Progress) != c.wrong || x.Uncontrolled.Hung != 1 {
				t.Errorf("%v, %+v", x.Violations, x.Uncontrolled)
			}
		})
	}
}

// clockedRunner returns a runner for clocked clients.
func clockedRunner(t *testing.T, c clocked) *foreign.Runner {
	t.Helper()
	timing := foreign.Timing{Patience: 300 * time.Millisecond, Limit: 500 * time.Millisecond}
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: openWatched, Kind: lock.Mutex, Timing: timing, Starter: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}

// TestHungOrSlow: a client with virtual time that computes for longer than the runner's patience is not accused, also
// in an audit.
func TestHungOrSlow(t *testing.T) {
	t.Parallel()
	runner := clockedRunner(t, clocked{slow: 400 * time.Millisecond})
	x := play(t, runner, runner.Playable(scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs"}},
		Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}}},
		Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1}},
	}))
	if x.Found.Has(property.Progress) || !x.Audited {
		t.Errorf("%v, audited %v, %+v", x.Violations, x.Audited, x.Uncontrolled)
	}
}
