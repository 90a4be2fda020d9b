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

// Locks in other languages under stress on a real RabbitMQ: the correct ones hold straight, and one that takes
// RESOURCE_LOCKED for success does not through the proxy. The example in Go has both both ways.
func TestStressExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out the examples in other languages, here those under stress")
	}
	for _, e := range enginetest.Examples {
		if e.Command == "" { // see TestStressGolang
			continue
		}
		t.Run(e.Folder, func(t *testing.T) {
			e.Need(t)
			rounds := stressRounds
			if e.Slow {
				rounds = fewRounds
			}
			stressed(t, "straight", "", 0, rounds, e.Starter(t, ""))
			if !e.Slow { // what the proxy sees of a driver, the gate has seen
				stressed(t, "proxy", "locked-is-success", 0, rounds, e.Starter(t, "locked-is-success"))
			}
		})
	}
}

// The same of the example in Go, some of whose clients hang.
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

// A lock that connects anew for each acquire is not blamed for it.
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

// stressed puts a lock under stress one way, as it is or with a bug. limit is how long an operation may take, 0 for the usual.
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

// How often each client uses the lock.
const (
	stressRounds = 30
	fewRounds    = 10 // where that takes long
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

// hanging is a client of the example in Go that hangs now and then, once it has acquired a slot or not.
type hanging struct {
	*amqplocks.Client
	acquires *atomic.Int64 // of all clients
}

// hangsEvery is how many acquires there are to one that hangs.
const hangsEvery = 60

func (h *hanging) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := h.Client.Acquire(ctx, name)
	if h.acquires.Add(1)%hangsEvery == 0 {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return slot, enginetest.NoEffect(err)
}

// reconnecting is a client of the example in Go with a connection for each acquire.
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
