package clientstress_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/internal/foreigntest"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/beliefs"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/judge"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
)

// ways says, for each way to the broker, whether it leads through a proxy.
var ways = map[string]bool{"straight": false, "proxy": true}

// Right locks violate nothing under stress, with and without proxies, and while clients die.
func TestStressHolds(t *testing.T) {
	for _, target := range amqplock.References {
		for way, proxied := range ways {
			t.Run(target.Name+" "+way, func(t *testing.T) {
				t.Parallel()
				c := config(t, target)
				c.Proxy, c.CrashShare = proxied, 0.05
				h, stats := stressed(t, c)
				wantDecision(t, h, linear.Legal)
				if found := broken(t, h); found != 0 {
					t.Errorf("violated: %v", found.Names())
				}
				if n := len(durations(h)); stats.Rounds != c.Rounds || stats.Operations != n || stats.Crashes == 0 || stats.Crashes != crashes(h) {
					t.Errorf("%+v of a history with %d answers and %d crashes", stats, n, crashes(h))
				}
				if counts := stats.Wire; proxied && (counts.Opened < stats.Crashes || counts.Commands[frame.BasicPublishID.String()] == 0 && target.Kind != lock.Mutex) {
					t.Errorf("through the proxies went %+v", counts)
				}
			})
		}
	}
}

// Clients that can wait for a lock are sometimes told to wait.
func TestStressWaits(t *testing.T) {
	c := config(t, amqplock.References[0])
	starter := &waiting{Starter: c.Starter}
	c.Starter = starter
	h, _ := stressed(t, c)
	wantDecision(t, h, linear.Legal)
	if starter.told.Load() == 0 {
		t.Error("nobody was told to wait")
	}
}

// waiting starts clients that wait for a lock by asking repeatedly, and counts how often they are told to wait.
type waiting struct {
	foreign.Starter
	told atomic.Int64
}

func (s *waiting) Start(ctx context.Context, number int) (foreign.Client, error) {
	client, err := s.Starter.Start(ctx, number)
	return &waiter{client, s}, err
}

type waiter struct {
	foreign.Client
	of *waiting
}

func (c *waiter) Initialize(ctx context.Context, in foreign.Setup) (foreign.About, error) {
	about, err := c.Client.Initialize(ctx, in)
	about.Waits = true
	return about, err
}

func (c *waiter) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	r, err := c.Client.Call(ctx, op, p)
	if p.Timeout == 0 {
		return r, err
	}
	c.of.told.Add(1)
	for began := time.Now(); err == nil && !r.Held && time.Since(began) < p.Timeout; {
		r, err = c.Client.Call(ctx, op, p)
	}
	return r, err
}

// A lock that takes RESOURCE_LOCKED for success is found to be wrong, with and without proxies.
func TestFinds(t *testing.T) {
	for way, proxied := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			c := config(t, mutant.Named("locked-is-success"))
			c.Proxy = proxied
			h, _ := stressed(t, c)
			wantDecision(t, h, linear.Illegal)
			if broken(t, h)&property.Safety == 0 {
				t.Error("no certain holds are in each other's way")
			}
		})
	}
}

// The audit finds that a release does not free a slot, with and without proxies.
func TestAuditFinds(t *testing.T) {
	t.Parallel()
	for way, proxied := range ways {
		t.Run(way, func(t *testing.T) {
			c := config(t, mutant.Named("release-forgets"))
			c.Proxy, c.Admins, c.Limit = proxied, 0, time.Second
			h, _ := stressed(t, c)
			wantDecision(t, h, linear.Legal) // the history gives no reasons for refusals
			if found := broken(t, h); !found.Has(property.EffectiveRelease) {
				t.Errorf("violated: %v", found.Names())
			}
		})
	}
}

// broken are the properties that a history violates, by its certain holds and by its audit.
func broken(t *testing.T, h *history.History) (found property.Set) {
	t.Helper()
	recovery, err := judge.Audit(h, judge.Events(h), linear.Options{}, beliefs.Before{})
	if err != nil {
		t.Error(err)
	}
	for _, v := range append(judge.Certain(h, linear.Options{}), recovery...) {
		if v.Decision == linear.Illegal {
			found = found.With(v.Property)
			t.Logf("%s: %s", v.Property, v.Why)
		}
	}
	if len(recovery) == 0 {
		t.Error("the audit has put nothing to the test")
	}
	return found
}

// A client that answers too late, dies, or does not know an outcome is replaced. A client that breaks the protocol ends
// the run. In each case all clients have ended at the end.
func TestStressTrouble(t *testing.T) {
	const often = 20 // one in 20 acquires goes wrong
	broken := errors.New("it broke the protocol")
	for name, trouble := range map[string]func(context.Context) (lock.Result, error){
		"hangs": func(ctx context.Context) (lock.Result, error) {
			<-ctx.Done()
			return lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}, nil
		},
		"dies":         func(context.Context) (lock.Result, error) { return lock.Result{}, foreign.ErrDied },
		"does not say": func(context.Context) (lock.Result, error) { return lock.Result{Outcome: lock.Unknown}, nil },
		"protocol":     func(context.Context) (lock.Result, error) { return lock.Result{}, broken },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t, amqplock.References[0])
			clients := c.Starter.(*clients)
			clients.often, clients.trouble = often, trouble
			if name == "hangs" {
				c.Limit = 400 * time.Millisecond
			}
			h, stats, err := clientstress.Run(t.Context(), c)
			if name == "protocol" != errors.Is(err, broken) || name != "protocol" && err != nil {
				t.Fatal(err)
			}
			wantDecision(t, h, linear.Legal)
			seen := map[string]int{"hangs": stats.Late, "dies": stats.Died, "does not say": stats.Unclear, "protocol": 1}
			if seen[name] == 0 || name != "protocol" && seen[name] != crashes(h) {
				t.Errorf("%+v", stats)
			}
			if n := clients.alive.Load(); n != 0 {
				t.Errorf("%d clients are left", n)
			}
		})
	}
}

// A run that is interrupted returns the error of its context, and ends its clients.
func TestStressInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := config(t, amqplock.References[0])
	c.Progress = func(rounds, _ int) {
		if rounds == 5 {
			cancel()
		}
	}
	h, stats, err := clientstress.Run(ctx, c)
	if !errors.Is(err, context.Canceled) || stats.Rounds != 6 || len(h.Events) == 0 {
		t.Errorf("%v, %+v, %d events", err, stats, len(h.Events))
	}
	wantDecision(t, h, linear.Legal)
	if n := c.Starter.(*clients).alive.Load(); n != 0 {
		t.Errorf("%d clients are left", n)
	}
}

// If the run is interrupted, clients with an operation under way end only when no client works any more. Otherwise
// other clients could be granted their slots, and a right lock would be blamed.
func TestStressInterruptedAtWork(t *testing.T) {
	t.Parallel()
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		c := config(t, amqplock.References[0])
		c.Slots, c.Admins = 1, 0
		clients := c.Starter.(*clients)
		clients.often, clients.trouble = 30, func(context.Context) (lock.Result, error) {
			cancel()
			return lock.Result{Outcome: lock.Unknown}, nil
		}
		h, _, err := clientstress.Run(ctx, c)
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		wantDecision(t, h, linear.Legal)
	}
}

func TestStressConfig(t *testing.T) {
	for want, wrong := range map[string]func(*clientstress.Config){
		"clients 0":             func(c *clientstress.Config) { c.Clients = 0 },
		"begins with amqp://":   func(c *clientstress.Config) { c.Proxy, c.URL = true, "amqps://127.0.0.1/" },
		"offers the lock types": func(c *clientstress.Config) { c.Kind, c.Slots = lock.PersistentMutex, 1 },
	} {
		c := config(t, amqplock.References[0])
		wrong(&c)
		h, stats, err := clientstress.Run(t.Context(), c)
		if h != nil || stats != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// config is the configuration of a short run, after which no queue is left.
func config(t testing.TB, target *lock.Target) clientstress.Config {
	broker, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: rabbitmqtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	var swept []string
	sweep := func(queues []string) error {
		swept = append(swept, queues...)
		return broker.Sweep(queues)
	}
	t.Cleanup(func() { rabbitmqtest.WantAbsent(t, broker.URL, swept) })
	load := stress.Load{Slots: 2, Clients: 4, Admins: 1, Rounds: 25, Verifies: 2, Seed: 1}
	return clientstress.Config{
		Starter: &clients{Machines: foreigntest.Machines{Target: target, Options: amqplock.DefaultOptions()}},
		Kind:    target.Kind, URL: broker.URL, Load: load.Fit(target.Kind), Sweep: sweep,
	}
}

func stressed(t *testing.T, c clientstress.Config) (*history.History, *clientstress.Stats) {
	t.Helper()
	h, stats, err := clientstress.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return h, stats
}

func wantDecision(t *testing.T, h *history.History, want linear.Decision) {
	t.Helper()
	if err := linear.Validate(h); err != nil {
		t.Error(err)
	}
	if f := linear.Check(h, linear.Options{}); f.Decision != want {
		t.Errorf("%+v", f)
	}
}

// crashes is the number of crashed processes in a history.
func crashes(h *history.History) (n int) {
	for _, e := range h.Events {
		if e.F == history.Crash {
			n++
		}
	}
	return n
}

// clients starts clients of reference locks. Like external clients, they do not say why an operation failed. Some of
// their acquires go wrong.
type clients struct {
	foreigntest.Machines
	often   int64 // each acquire with a number divisible by it goes wrong; 0 means none
	trouble func(context.Context) (lock.Result, error)

	called atomic.Int64
	alive  atomic.Int64
}

func (s *clients) Start(ctx context.Context, number int) (foreign.Client, error) {
	client, err := s.Machines.Start(ctx, number)
	if err == nil {
		s.alive.Add(1)
	}
	return &terse{client, s}, err
}

type terse struct {
	foreign.Client
	of *clients
}

// Call carries out the operation before it goes wrong. The client may therefore hold a lock although its acquire has
// returned no grant.
func (c *terse) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	r, err := c.Client.Call(ctx, op, p)
	if c.of.often > 0 && op == lock.Acquire && c.of.called.Add(1)%c.of.often == 0 {
		return c.of.trouble(ctx)
	}
	if op == lock.Acquire && r.Reason == lock.Full {
		r.Outcome = lock.Done
	}
	r.Reason = lock.NoReason
	return r, err
}

func (c *terse) Close() error {
	c.of.alive.Add(-1)
	return c.Client.Close()
}

// BenchmarkStress measures the median duration of operations under stress in microseconds, directly and through
// proxies.
func BenchmarkStress(b *testing.B) {
	took := make(map[string][]int64)
	for b.Loop() {
		for way, proxied := range ways {
			c := config(b, amqplock.References[0])
			c.Proxy, c.Admins = proxied, 0
			h, _, err := clientstress.Run(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			took[way] = append(took[way], durations(h)...)
		}
	}
	median := func(way string) float64 {
		slices.Sort(took[way])
		return float64(took[way][len(took[way])/2]) / 1e3
	}
	b.ReportMetric(median("straight"), "straight-µs/op")
	b.ReportMetric(median("proxy"), "proxy-µs/op")
	b.ReportMetric(median("proxy")/median("straight"), "proxy/straight")
}

// durations are the durations of a history's operations, in nanoseconds.
func durations(h *history.History) (all []int64) {
	began := make(map[int32]int64)
	for _, e := range h.Events {
		switch {
		case e.Process == history.Nemesis:
		case e.Type == history.Invoke:
			began[e.Process] = e.Time
		default:
			all = append(all, e.Time-began[e.Process])
		}
	}
	return all
}
