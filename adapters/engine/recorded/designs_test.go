package recorded_test

import (
	"context"
	"testing"

	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/engine/recorded"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/histories/report"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// stressedDesign is a lock design written in Go, to be run under stress.
type stressedDesign struct {
	name  string
	kind  lock.Kind
	new   func(ctx context.Context, url string) (inprocess.Lock, error)
	wrong bool
	// by is the property whose violation shows that the design is wrong; the zero value is mutual-exclusion.
	by property.Property
}

// impatient is a mutex that does not implement waiting for the lock.
type impatient struct{ inprocess.Lock }

func mutexOf(name string, d mutexes.Design) stressedDesign {
	return stressedDesign{name: name, kind: lock.Mutex, new: func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := mutexes.New(ctx, url, d)
		return impatient{c}, err
	}}
}

func semaphoreOf(name string, d semaphores.Design) stressedDesign {
	return stressedDesign{name: name, kind: lock.Semaphore, new: enginetest.Semaphore(d)}
}

func limitedOf(name string, d semaphores.Design) stressedDesign {
	out := semaphoreOf(name, d)
	out.by = property.LimitRespected
	return out
}

func wrong(d stressedDesign) stressedDesign {
	d.wrong = true
	return d
}

var stressedDesigns = []stressedDesign{
	mutexOf("exclusive queue", mutexes.Queue{}),
	mutexOf("exclusive queue, a connection for each hold", mutexes.Queue{ConnectionEach: true}),
	mutexOf("exclusive queue, asked for first", mutexes.Queue{AsksFirst: true}),
	mutexOf("token", mutexes.Token{}),
	mutexOf("subscribed token", mutexes.Token{Subscribed: true}),
	mutexOf("token, single active consumer", mutexes.Token{Standing: true, Single: true}),
	mutexOf("token, published anew in a transaction", mutexes.Token{InTransaction: true}),
	mutexOf("exclusive consumer", mutexes.Consumer{}),
	mutexOf("active consumer", mutexes.Active{}),
	semaphoreOf("tokens", semaphores.Tokens{}),
	semaphoreOf("tokens alike", semaphores.Tokens{Alike: true}),
	semaphoreOf("consumers", semaphores.Consumers{}),
	limitedOf("tokens with limits", semaphores.Limited{}),
	limitedOf("consumers with limits, no slots", semaphores.Counted{}),
	wrong(limitedOf("limits ignored", semaphores.Limited{Ignores: true})),
	wrong(mutexOf("locked is success", mutexes.Queue{LockedIsSuccess: true})),
	wrong(mutexOf("consumer is not exclusive", mutexes.Consumer{NotExclusive: true})),
	wrong(mutexOf("waiting consumer is success", mutexes.Active{Subscribed: true})),
	wrong(limitedOf("refused consumer is success", semaphores.Consumers{Refusal: true})),
	wrong(limitedOf("tokens alike made twice", semaphores.Tokens{Alike: true, Twice: true})),
}

// TestStressDesigns runs locks of each design under stress on a real RabbitMQ. Correct designs must violate no
// property. With a wrong design, the test must see two clients with one slot, or more holders than slots or callers'
// limits allow.
func TestStressDesigns(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves out locks of other designs under stress")
	}
	broker, err := rabbitmq.Start(t.Context(), rabbitmq.Options{URL: rabbitmqtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range stressedDesigns {
		t.Run(d.name, func(t *testing.T) {
			r := d.stress(t, broker)
			for i := 1; d.wrong && i < stressTries && r.Result(d.by).Violation == nil; i++ {
				r = d.stress(t, broker) // the bug shows only in some interleavings
			}
			for _, p := range r.Properties {
				if p.Violation != nil && !d.wrong {
					t.Errorf("%s is violated: %s", p.Property, p.Violation.Detail)
				}
			}
			p := r.Result(d.by)
			if (p.Violation != nil) != d.wrong || p.Skip != "" || p.Checked == 0 {
				t.Errorf("%s: %+v", d.by, p)
			}
			if p := r.Result(property.Progress); !d.wrong && (p.Skip != "" || p.Checked == 0) {
				t.Errorf("the audit has shown nothing: %+v", p)
			}
		})
	}
}

// stressTries is the maximum number of runs of a wrong design until its bug must have been seen.
const stressTries = 10

func (d *stressedDesign) stress(t *testing.T, broker *rabbitmq.Broker) *report.Report {
	res, err := recorded.StressExternal(t.Context(), recorded.ExternalStressConfig{
		Config: clientstress.Config{
			Starter: inprocess.Starter{Name: d.name, New: d.new}, Kind: d.kind, URL: broker.URL, Sweep: broker.Sweep,
			Proxy: d.kind == lock.Mutex || d.by == property.LimitRespected, // the run deletes the queues the proxy saw
			Load:  stress.Load{Slots: 2, Clients: 4, Admins: 1, Rounds: stressRounds, Verifies: 2, CrashShare: 0.02, Seed: 1}.Fit(d.kind),
		},
		Broker: broker.Version,
		Keep:   func(*history.History, string) (string, error) { return "kept", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.kind == lock.Mutex {
		enginetest.SpeaksOfMutex(t, res)
	}
	return res.Report
}
