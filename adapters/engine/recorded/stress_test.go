package recorded_test

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/engine/enginetest"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/rabbitmq"
	"github.com/lockproof/lockproof/adapters/rabbitmq/rabbitmqtest"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// Locks in other languages under stress on a real RabbitMQ, straight and through the proxy: the correct ones hold,
// and one that takes RESOURCE_LOCKED for success does not.
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
			stressBothWays(t, 0, func(t *testing.T, bug string) external.Starter { return e.Starter(t, bug) })
		})
	}
}

// The same of the example in Go, some of whose clients hang.
func TestStressGolang(t *testing.T) {
	stressBothWays(t, time.Second, func(_ *testing.T, bug string) external.Starter {
		var acquires atomic.Int64
		return inprocess.Starter{Name: "golang example", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			c, err := amqplocks.NewWith(ctx, url, amqplocks.Bug(bug))
			return &hanging{Client: c, acquires: &acquires}, err
		}}
	})
}

// A lock that connects anew for each acquire is not blamed for it.
func TestStressReconnects(t *testing.T) {
	for _, proxy := range []bool{false, true} {
		r := stressReport(t, inprocess.Starter{Name: "reconnecting", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			c, err := amqplocks.New(ctx, url)
			return &reconnecting{Client: c, url: url}, err
		}}, 0, proxy)
		if r.Outcome() == report.OutcomeViolated {
			t.Errorf("proxy %v: %+v", proxy, r.Properties)
		}
	}
}

// stressBothWays puts a lock under stress, as it is and with a bug. limit is how long an operation may take, 0 for the
// usual.
func stressBothWays(t *testing.T, limit time.Duration, starter func(t *testing.T, bug string) external.Starter) {
	for _, way := range []string{"straight", "proxy"} {
		for bug, holds := range map[string]bool{"": true, "locked-is-success": false} {
			t.Run(way+" "+cmp.Or(bug, "holds"), func(t *testing.T) {
				r := stressReport(t, starter(t, bug), limit, way == "proxy")
				if r.Outcome() == report.OutcomeViolated == holds || r.Result(property.MutualExclusion).Violation != nil == holds {
					t.Errorf("%s: %+v", r.Outcome(), r.Properties)
				}
				if r.Mode != report.Stressed || r.Scenarios != stressRounds || r.Commands > 0 != (way == "proxy") || len(r.Wire) > 0 != (way == "proxy") {
					t.Errorf("%s: %d rounds, %d commands, %v", r.Mode, r.Scenarios, r.Commands, r.Wire)
				}
			})
		}
	}
}

const stressRounds = 30

func stressReport(t *testing.T, starter external.Starter, limit time.Duration, proxy bool) *report.Report {
	broker, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: rabbitmqtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	var kept *history.History
	res, err := recorded.StressExternal(t.Context(), recorded.ExternalStressConfig{
		StressConfig: external.StressConfig{
			Starter: starter, URL: broker.URL, Proxy: proxy, Limit: limit, Sweep: broker.Sweep,
			Load: stress.Load{Slots: 2, Clients: 4, Admins: 1, Rounds: stressRounds, Verifies: 2, Crashes: 0.02, Seed: 1},
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
