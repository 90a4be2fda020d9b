package recorded_test

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// TestStressExamples stresses locks in other languages on a real RabbitMQ. Connected directly, the correct locks must
// violate nothing. Connected through the proxy, a lock that takes RESOURCE_LOCKED for success must look wrong.
// TestStressGolang tests the example in Go in all four combinations.
func TestStressExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the examples in other languages, here those under stress")
	}
	for _, e := range enginetest.Examples {
		if e.Command == "" { // the example in Go: see TestStressGolang
			continue
		}
		t.Run(e.Folder, func(t *testing.T) {
			e.Need(t)
			rounds := stressRounds
			if e.Slow {
				rounds = fewRounds
			}
			stressed(t, "straight", "", 0, rounds, e.Starter(t, ""))
			if !e.Slow { // for slow languages, the gate's tests cover the driver
				stressed(t, "proxy", "locked-is-success", 0, rounds, e.Starter(t, "locked-is-success"))
			}
		})
	}
}

// TestStressGolang stresses the example in Go directly and through the proxy, correct and with a bug. Some of its
// clients hang.
func TestStressGolang(t *testing.T) {
	for _, way := range []string{"straight", "proxy"} {
		for _, bug := range []string{"", "locked-is-success"} {
			var acquires atomic.Int64
			stressed(t, way, bug, time.Second, stressRounds, inprocess.Starter{Name: "golang example", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
				c, err := amqplocks.NewWith(ctx, url, amqplocks.Bug(bug))
				return &hanging{Client: c, acquires: &acquires}, err
			}})
		}
	}
}

// TestStressReconnects checks that a correct lock which opens a new connection for each acquire violates nothing.
func TestStressReconnects(t *testing.T) {
	for _, proxy := range []bool{false, true} {
		r := stressReport(t, inprocess.Starter{Name: "reconnecting", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			c, err := amqplocks.New(ctx, url)
			return &reconnecting{Client: c, url: url}, err
		}}, 0, stressRounds, proxy)
		if r.Outcome() == report.OutcomeViolated {
			t.Errorf("proxy %v: %+v", proxy, r.Properties)
		}
	}
}

// stressed stresses a lock and checks whether mutual-exclusion is violated. way is "straight" or "proxy"; bug is "" for
// a correct lock. limit is the maximum duration of an operation; 0 is the default.
func stressed(t *testing.T, way, bug string, limit time.Duration, rounds int, starter foreign.Starter) {
	t.Run(way+" "+cmp.Or(bug, "holds"), func(t *testing.T) {
		holds := bug == ""
		r := stressReport(t, starter, limit, rounds, way == "proxy")
		if r.Outcome() == report.OutcomeViolated == holds || r.Result(property.MutualExclusion).Violation != nil == holds {
			t.Errorf("%s: %+v", r.Outcome(), r.Properties)
		}
		if r.Mode != report.Stressed || r.Scenarios != rounds || r.Commands > 0 != (way == "proxy") || len(r.Wire) > 0 != (way == "proxy") {
			t.Errorf("%s: %d rounds, %d commands, %v", r.Mode, r.Scenarios, r.Commands, r.Wire)
		}
	})
}

// How often each client acquires the lock.
const (
	stressRounds = 30
	fewRounds    = 10 // for slow languages
)

func stressReport(t *testing.T, starter foreign.Starter, limit time.Duration, rounds int, proxy bool) *report.Report {
	broker, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: rabbitmqtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	var kept *history.History
	res, err := recorded.StressExternal(t.Context(), recorded.ExternalStressConfig{
		Config: clientstress.Config{
			Starter: starter, URL: broker.URL, Proxy: proxy, Limit: limit, Sweep: broker.Sweep,
			Load: stress.Load{Slots: 2, Clients: 4, Admins: 1, Rounds: rounds, Verifies: 2, CrashShare: 0.02, Seed: 1},
		},
		Broker: broker.Version,
		Keep:   func(h *history.History, _ string) (string, error) { kept = h; return "kept", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if kept == nil || res.Report.Source != "kept" {
		t.Errorf("the history is not kept: %q", res.Report.Source)
	}
	return res.Report
}

// hanging is a client of the example in Go. Some of its acquires hang after they have acquired a slot or failed.
type hanging struct {
	*amqplocks.Client
	acquires *atomic.Int64 // number of acquires of all clients so far
}

// hangsEvery = 60 means that every 60th acquire hangs.
const hangsEvery = 60

func (h *hanging) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := h.Client.Acquire(ctx, name)
	if h.acquires.Add(1)%hangsEvery == 0 {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return slot, enginetest.NoEffect(err)
}

// reconnecting is a client of the example in Go that opens a new connection for each acquire.
type reconnecting struct {
	*amqplocks.Client
	url string
}

func (r *reconnecting) Acquire(ctx context.Context, name string) (int, error) {
	if err := r.Client.Close(); err != nil {
		return 0, err
	}
	var err error
	if r.Client, err = amqplocks.New(ctx, r.url); err != nil {
		return 0, errors.Join(inprocess.ErrNoEffect, err)
	}
	return r.Client.Acquire(ctx, name)
}
