package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/linear"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
)

// The reference locks violate nothing under stress.
func TestStressReferences(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	for _, target := range amqplock.References {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			c := stressConfig(target)
			h, stats, err := rabbitmq.Stress(t.Context(), b, c)
			if err != nil {
				t.Fatal(err)
			}
			wantLegal(t, h)
			if stats.Rounds != c.Rounds || stats.Operations != answers(h) || stats.Commands < stats.Operations {
				t.Errorf("%+v of a history with %d answers", stats, answers(h))
			}
			if cost := &stats.Costs[monitor.VerifyHeld]; cost.Count > 0 && (cost.Max[monitor.Trips] != 1 || cost.Max[monitor.Channels] != 0) {
				t.Errorf("verify costs %+v", cost)
			}
		})
	}
}

// Wrong locks produce an illegal history under stress.
func TestStressFinds(t *testing.T) {
	b := sharedBroker(t)
	for name, variant := range map[string]func(*amqplock.Protocol) amqplock.Implementation{
		"RESOURCE_LOCKED is success": newLockedIsSuccess,
		"holders are not exclusive":  newHolderShared,
	} {
		t.Run(name, func(t *testing.T) {
			c := stressConfig(&lock.Target{Design: amqplock.Design{Variant: variant}})
			h, _, err := rabbitmq.Stress(t.Context(), b, c)
			if err != nil {
				t.Fatal(err)
			}
			if f := linear.Check(h, linear.Options{}); f.Decision != linear.Illegal {
				t.Errorf("%+v", f)
			}
		})
	}
}

// The history records the crash of each dead client, and later that the broker has certainly noticed it. It has no
// other events of that process.
func TestStressCrashes(t *testing.T) {
	t.Parallel()
	b := sharedBroker(t)
	for name, inFlight := range map[string]bool{"between commands": false, "in flight": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := stressConfig(amqplock.References[0])
			c.CrashShare, c.InFlight = 0.1, inFlight
			h, stats, err := rabbitmq.Stress(t.Context(), b, c)
			if err != nil {
				t.Fatal(err)
			}
			if dead := crashed(t, h); stats.Crashes == 0 || dead != stats.Crashes || stats.Noticed != stats.Crashes {
				t.Errorf("%+v, and %d dead processes", stats, dead)
			}
			if !inFlight { // RabbitMQ 3.10.8 grants queues twice if clients die during commands
				wantLegal(t, h)
			}
		})
	}
}

// crashed counts the processes that crashed. It fails the test if one of them does anything afterwards, or is reported
// gone twice.
func crashed(t *testing.T, h *history.History) int {
	t.Helper()
	if err := linear.Validate(h); err != nil {
		t.Error(err)
	}
	last := make(map[int32]history.F)
	for i, e := range h.Events {
		switch {
		case e.F == history.Gone && last[e.Target] != history.Crash, e.F == history.Crash && last[e.Target] != 0:
			t.Errorf("event %d: %s of process %d, after %v", i, e.F, e.Target, last[e.Target])
		case e.F == history.Gone || e.F == history.Crash:
			last[e.Target] = e.F
		case last[e.Process] != 0:
			t.Errorf("event %d: %+v of a dead process", i, e)
		}
	}
	return len(last)
}

// Clients continue after the broker restarts. If the broker disappears, the run ends and returns what it has recorded.
func TestStressLosesBroker(t *testing.T) {
	b := rabbitmqtest.Private(t)
	t.Run("for a while", func(t *testing.T) {
		c := stressConfig(amqplock.References[0])
		c.Restarts = 1
		h, stats, err := rabbitmq.Stress(t.Context(), b, c)
		if err != nil {
			t.Fatal(err)
		}
		wantLegal(t, h)
		if stats.Restarts != 1 || stats.Rounds != c.Rounds {
			t.Errorf("%+v", stats)
		}
	})
	t.Run("for good", func(t *testing.T) {
		c := stressConfig(amqplock.References[0])
		c.Progress = func(rounds, _ int) {
			if rounds == 5 {
				if err := b.Stop(); err != nil {
					t.Error(err)
				}
			}
		}
		h, stats, err := rabbitmq.Stress(t.Context(), b, c)
		if err == nil || !strings.Contains(err.Error(), "lost the broker") {
			t.Error(err)
		}
		wantLegal(t, h)
		if stats.Rounds < 5 || stats.Operations == 0 {
			t.Errorf("%+v", stats)
		}
	})
}

// A run that is interrupted, or in which a goroutine panics, deletes its queues.
func TestStressEnds(t *testing.T) {
	b := sharedBroker(t)
	for name, end := range map[string]func(context.CancelFunc){
		"interrupted": func(cancel context.CancelFunc) { cancel() },
		"panic":       func(context.CancelFunc) { panic("on purpose") },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := stressConfig(amqplock.References[0])
			c.Prefix = fmt.Sprintf("%s.%d.", name, time.Now().UnixNano())
			c.Progress = func(rounds, _ int) {
				if rounds == 10 {
					end(cancel)
				}
			}
			h, err := stressed(ctx, b, c)
			if name == "interrupted" && (!errors.Is(err, context.Canceled) || len(h.Events) == 0) {
				t.Errorf("%d events, error %v", len(h.Events), err)
			}
			if name == "panic" && !strings.HasPrefix(err.Error(), "on purpose") {
				t.Error(err)
			}
			if exists(t, b, c.Prefix+"jobs-1-A") {
				t.Error("a queue is left behind")
			}
			var goroutines strings.Builder
			pprof.Lookup("goroutine").WriteTo(&goroutines, 2)
			if strings.Contains(goroutines.String(), "rabbitmq.(*stress") {
				t.Errorf("a goroutine is left behind:\n%s", &goroutines)
			}
		})
	}
}

// stressed runs Stress and turns a panic into an error.
func stressed(ctx context.Context, b *rabbitmq.Broker, c rabbitmq.StressConfig) (h *history.History, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	h, _, err = rabbitmq.Stress(ctx, b, c)
	return h, err
}

func TestStressConfig(t *testing.T) {
	b := sharedBroker(t)
	for want, wrong := range map[string]func(*rabbitmq.StressConfig){
		"with clients 0":                func(c *rabbitmq.StressConfig) { c.Clients = 0 },
		"slots 249: expected 0 to 248":  func(c *rabbitmq.StressConfig) { c.Slots = 249 },
		"expected at most 1 of a mutex": func(c *rabbitmq.StressConfig) { c.Target, c.Slots = amqplock.References[1], 2 },
		"with admins 1: a mutex":        func(c *rabbitmq.StressConfig) { c.Target, c.Slots = amqplock.References[1], 0 },
		"crash-share 2: ":               func(c *rabbitmq.StressConfig) { c.CrashShare = 2 },
		"with connection=shared: expected own": func(c *rabbitmq.StressConfig) {
			c.Options = amqplock.Table.Edit(c.Options, func(o *amqplock.Options) { o.Connection = amqplock.SharedConnection })
		},
		"not started here and can't be restarted": func(c *rabbitmq.StressConfig) { c.Restarts = 1 },
	} {
		c := stressConfig(amqplock.References[0])
		c.Admins = 1
		wrong(&c)
		h, stats, err := rabbitmq.Stress(t.Context(), b, c)
		if h != nil || stats != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// stressConfig is the configuration of a short run.
func stressConfig(target *lock.Target) rabbitmq.StressConfig {
	load := stress.Load{Slots: 2, Clients: 5, Admins: 1, Rounds: 25, Verifies: 2, Seed: 1}
	return rabbitmq.StressConfig{Target: target, Options: amqplock.DefaultOptions(), Load: load.Fit(target.Kind)}
}

func wantLegal(t *testing.T, h *history.History) {
	t.Helper()
	if f := linear.Check(h, linear.Options{}); f.Decision != linear.Legal {
		t.Errorf("%+v", f)
	}
}

// answers is the number of completed operations in a history.
func answers(h *history.History) (n int) {
	for _, e := range h.Events {
		if e.Process != history.Nemesis && e.Type != history.Invoke {
			n++
		}
	}
	return n
}

// holderShared is a mutant that declares B queues without the flag exclusive.
type holderShared struct{ *amqplock.Protocol }

func newHolderShared(p *amqplock.Protocol) amqplock.Implementation { return holderShared{p} }

func (v holderShared) Next(m *amqplock.Machine) amqp.Command {
	c := v.Protocol.Next(m)
	if m.Phase == amqplock.Claiming && c.Flags.Has(amqp.Exclusive) {
		c.Flags = 0
	}
	return c
}
