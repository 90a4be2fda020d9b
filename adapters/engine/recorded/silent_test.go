package recorded_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/histories"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// TestSilentHistories checks that no property is judged if the history has no acquire of known outcome.
func TestSilentHistories(t *testing.T) {
	const header = `{"lockproof":"history","version":1,"kind":"mutex","locks":[{"name":"jobs"}]}` + "\n"
	const asked = `{"type":"invoke","process":1,"f":"acquire"}` + "\n"
	const refused = `{"type":"fail","process":1,"f":"acquire"}` + "\n"
	for _, test := range []struct {
		name, events string
		outcome      report.Outcome
		skip         string
	}{
		{"no operation", "", report.OutcomeInconclusive, "no operation was answered"},
		{"one that never completed", asked, report.OutcomeInconclusive, "no operation was answered"},
		{"one of unknown outcome", asked + `{"type":"info","process":1,"f":"acquire"}`, report.OutcomeInconclusive, "no operation was answered"},
		{"one that failed", asked + refused, report.OutcomeInconclusive, "no acquire was granted, nor refused for a known reason"},
		{"one that was granted", asked + `{"type":"ok","process":1,"f":"acquire"}`, report.OutcomeHolds, ""},
		{"one refused as full", asked + `{"type":"fail","process":1,"f":"acquire","error":"full"}`, report.OutcomeViolated, ""},
		{"a release of what nobody was granted", asked + refused + `{"type":"invoke","process":1,"f":"release"}` + "\n" + `{"type":"ok","process":1,"f":"release"}`, report.OutcomeViolated, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			recording, err := histories.NewRecording(strings.NewReader(header+test.events), "history", histories.Unnamed)
			if err != nil {
				t.Fatal(err)
			}
			r, err := recorded.CheckRecording(recording, recorded.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if skip := r.Result(property.Linearizable).Skip; r.Outcome() != test.outcome || skip != test.skip || test.skip != "" && r.Judged() {
				t.Errorf("%s, %q, expected %s, %q", r.Outcome(), skip, test.outcome, test.skip)
			}
		})
	}
}

// mute is a mutex whose acquire succeeds but never reports its outcome.
type mute struct{ inprocess.Lock }

func (m mute) Acquire(ctx context.Context, name string) (int, error) {
	if _, err := m.Lock.Acquire(ctx, name); err != nil {
		return 0, err
	}
	return 0, errors.New("nobody knows")
}

// TestStressMute stresses a lock whose acquires never get an answer. Mutual exclusion cannot be judged, and the audit
// must find that the lock grants nothing.
func TestStressMute(t *testing.T) {
	broker, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: rabbitmqtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, proxy := range []bool{false, true} {
		res, err := recorded.StressExternal(t.Context(), recorded.ExternalStressConfig{
			Config: clientstress.Config{
				Starter: inprocess.Starter{Name: "mute", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
					c, err := mutexes.New(ctx, url, mutexes.Queue{})
					return mute{c}, err
				}},
				Kind: lock.Mutex, URL: broker.URL, Sweep: broker.Sweep, Proxy: proxy,
				Load: stress.Load{Clients: 2, Rounds: 3, Seed: 1}.Fit(lock.Mutex),
			},
			Broker: broker.Version,
		})
		if err != nil {
			t.Fatal(err)
		}
		if r := res.Report; r.Result(property.CrashFrees).Violation == nil || r.Result(property.MutualExclusion).Checked > 0 || r.Operations == 0 {
			t.Errorf("proxy %t: %s, %+v", proxy, r.Outcome(), r.Properties)
		}
	}
}
