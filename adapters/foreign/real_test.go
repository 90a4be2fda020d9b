package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/amqp/plugin"
	"github.com/lockproof/lockproof/adapters/amqp/rabbitmq"
	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/foreign/clientstress"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/stress"
	"github.com/lockproof/lockproof/internal/rabbitmqtest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/amqp/mutant"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
	amqplocks "github.com/lockproof/lockproof/testdata/targets/golang"
)

// An execution on a real RabbitMQ behind the gate has the same steps as on the simulated broker, also with faults.
func TestRealBroker(t *testing.T) {
	url := rabbitmqtest.URL(t)
	n := 60
	if testing.Short() {
		n = 10
	}
	real := func(c *foreign.Config) {
		c.Open = plugin.Config{URL: url, Sweep: (&rabbitmq.Broker{URL: url}).Sweep}.Open
	}
	targets := slices.Concat(amqplock.References, []*lock.Target{
		mutant.Named("locked-is-success"),
	})
	for _, target := range targets {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			simulated, real := newRunner(t, target, nil), newRunner(t, target, real)
			source := sim.NewSource(sim.Space{Target: target}, 11)
			found := false
			for i := range n {
				sc := real.Playable(source.Scenario(i))
				want, err := simulated.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(err)
				}
				got, err := real.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(err)
				}
				if played(got) != played(want) || got.Disagreement != "" {
					t.Fatalf("scenario %d: %s\non the simulated broker\n%s\non the real one\n%s", i, got.Disagreement, drawn(want), drawn(got))
				}
				found = found || got.Found != 0
			}
			if found == slices.Contains(amqplock.References, target) {
				t.Errorf("something is violated: %t", found)
			}
		})
	}
}

// meddler is a client that deletes the first slot before it acquires. It does so on a connection of its own, which
// bypasses the gate.
type meddler struct {
	*amqplocks.Client
	ch *amqp091.Channel
}

func (m meddler) Acquire(ctx context.Context, name string) (int, error) {
	if _, err := m.ch.QueueDelete(name+"-1-A", false, false, false); err != nil {
		return 0, err
	}
	return m.Client.Acquire(ctx, name)
}

// If the real broker answers differently from the simulated one, its state is no longer known. The execution reports
// that, and the next scenario starts with a new server.
func TestRealDisagreement(t *testing.T) {
	url := rabbitmqtest.URL(t)
	conn, err := amqp091.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{
		Open: plugin.Config{URL: url, Sweep: (&rabbitmq.Broker{URL: url}).Sweep}.Open, Kind: lock.Semaphore,
		Starter: inprocess.Starter{Name: "meddler", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			c, err := amqplocks.New(ctx, url)
			return meddler{c, ch}, err
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	acquire := []scenario.Operation{{Op: lock.Acquire}}
	sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: acquire}}}
	for range 2 {
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Disagreement == "" || x.Uncontrolled.Disagreed != 1 {
			t.Errorf("no disagreement: %+v", x.Uncontrolled)
		}
	}
}

// hoarder is a client that creates a queue and an exchange for each lock that it acquires, and never deletes them.
type hoarder struct {
	*amqplocks.Client
	ch *amqp091.Channel
}

func (h hoarder) Acquire(ctx context.Context, name string) (int, error) {
	if _, err := h.ch.QueueDeclare(name+".waiting", true, false, false, false, nil); err != nil {
		return 0, err
	}
	if err := h.ch.ExchangeDeclare(name+".events", "fanout", true, false, false, false, nil); err != nil {
		return 0, err
	}
	return h.Client.Acquire(ctx, name)
}

// made is a broker that records the names of the queues and exchanges that clients are about to create.
type made struct {
	*rabbitmq.Broker
	mu        sync.Mutex
	queues    []string
	exchanges []string
}

func (m *made) Note(queue, exchange string) {
	m.Broker.Note(queue, exchange)
	m.mu.Lock()
	defer m.mu.Unlock()
	if queue != "" {
		m.queues = append(m.queues, queue)
	} else {
		m.exchanges = append(m.exchanges, exchange)
	}
}

// All queues and exchanges that clients create are deleted in the end, both behind the gate and through the proxies of
// a stress test.
func TestRealLeavesNothing(t *testing.T) {
	url := rabbitmqtest.URL(t)
	starter := inprocess.Starter{Name: "hoarder", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
		c, err := amqplocks.New(ctx, url)
		if err != nil {
			return nil, err
		}
		conn, err := amqp091.Dial(url)
		if err != nil {
			return nil, err
		}
		ch, err := conn.Channel()
		return hoarder{c, ch}, err
	}}
	for way, use := range map[string]func(t *testing.T, m *made){
		"gate": func(t *testing.T, m *made) {
			runner, err := foreign.NewRunner(t.Context(), foreign.Config{Open: plugin.Config{URL: url, Sweep: m.Sweep, Notes: m}.Open, Kind: lock.Semaphore, Starter: starter})
			if err != nil {
				t.Fatal(err)
			}
			acquire := []scenario.Operation{{Op: lock.Acquire}}
			sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: acquire}, {Ops: acquire}}}
			for range 2 {
				if _, err := runner.Run(t.Context(), &sc); err != nil {
					t.Fatal(err)
				}
			}
			if err := runner.Close(); err != nil {
				t.Fatal(err)
			}
		},
		"proxies": func(t *testing.T, m *made) {
			load := stress.Load{Slots: 1, Clients: 3, Rounds: 3, Seed: 1}
			if _, _, err := clientstress.Run(t.Context(), clientstress.Config{
				URL: url, Sweep: m.Sweep, Notes: m, Kind: lock.Semaphore, Starter: starter, Proxy: true, Load: load,
			}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(way, func(t *testing.T) {
			m := &made{Broker: &rabbitmq.Broker{URL: url}}
			if _, err := m.Register(t.Context(), func(err error) { t.Error(err) }); err != nil {
				t.Fatal(err)
			}
			use(t, m)
			if err := m.Stop(); err != nil {
				t.Fatal(err)
			}
			if len(m.exchanges) == 0 || !slices.ContainsFunc(m.queues, func(q string) bool { return strings.HasSuffix(q, ".waiting") }) {
				t.Errorf("noted %q and %q", m.queues, m.exchanges)
			}
			rabbitmqtest.WantAbsent(t, url, m.queues)
			for _, exchange := range m.exchanges {
				wantNoExchange(t, url, exchange)
			}
		})
	}
}

// wantNoExchange fails the test if an exchange exists.
func wantNoExchange(t *testing.T, url, exchange string) {
	conn, err := amqp091.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	var closed *amqp091.Error
	if err = ch.ExchangeDeclarePassive(exchange, "fanout", true, false, false, false, nil); !errors.As(err, &closed) || closed.Code != amqp091.NotFound {
		t.Errorf("exchange %s: %v; it must not exist", exchange, err)
	}
}

// played is the steps of an execution as text, without the audit: on a real broker no virtual time passes in an audit.
func played(x *foreign.Execution) string {
	var b strings.Builder
	for _, s := range x.Steps {
		if s.Action.Kind == scenario.Audit {
			break
		}
		fmt.Fprintln(&b, s.Action, s.Command, s.Reply, x.History.Events[s.First:s.First+s.Events])
	}
	return b.String()
}
