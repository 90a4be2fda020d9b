package foreign_test

import (
	"context"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// fetching is a persistent mutex: a client holds it while it has fetched the only message of a queue with basic.get. If
// bug is set, a client that finds no message publishes another. If hasty is set, a release does not wait until the
// broker has the message back.
type fetching struct {
	url   string
	bug   bool
	hasty bool
	conn  *amqp091.Connection
	ch    *amqp091.Channel
	tag   uint64
}

// open opens the connection and the channel if they are not open.
func (m *fetching) open() (err error) {
	if m.conn == nil || m.conn.IsClosed() {
		if m.conn, err = amqp091.Dial(m.url); err != nil {
			return err
		}
		m.ch = nil
	}
	if m.ch != nil && !m.ch.IsClosed() {
		return nil
	}
	if m.ch, err = m.conn.Channel(); err != nil {
		return err
	}
	return m.ch.Confirm(false)
}

func (m *fetching) Create(ctx context.Context, name string, _ int) error {
	if err := m.open(); err != nil {
		return err
	}
	q, err := m.ch.QueueDeclare("token-"+name, true, false, false, false, nil)
	if err != nil || q.Messages > 0 {
		return err
	}
	return m.put(ctx, q.Name, "")
}

func (m *fetching) put(ctx context.Context, queue, body string) error {
	sent, err := m.ch.PublishWithDeferredConfirm("", queue, false, false, amqp091.Publishing{DeliveryMode: 2, Body: []byte(body)})
	if err == nil {
		_, err = sent.WaitContext(ctx)
	}
	return err
}

func (m *fetching) Destroy(_ context.Context, name string) error {
	if err := m.open(); err != nil {
		return err
	}
	_, err := m.ch.QueueDelete("token-"+name, false, false, false)
	return err
}

func (m *fetching) Count(context.Context, string) (int, error) { return 1, nil }

func (m *fetching) Acquire(ctx context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	d, ok, err := m.ch.Get("token-"+name, false)
	if err == nil && !ok && m.bug {
		if err = m.put(ctx, "token-"+name, ""); err == nil {
			d, ok, err = m.ch.Get("token-"+name, false)
		}
	}
	if err != nil || !ok {
		return 0, err
	}
	m.tag = d.DeliveryTag
	return 1, nil
}

func (m *fetching) Verify(context.Context, string, int) (bool, error) {
	return m.ch.Qos(1, 0, false) == nil, nil
}

func (m *fetching) Release(context.Context, string, int) error {
	if err := m.ch.Nack(m.tag, false, true); err != nil || m.hasty {
		return err
	}
	return m.ch.Qos(1, 0, false) // answered after the nack was carried out
}

func (m *fetching) Close() error { return m.conn.Close() }

// For locks by messages or consumers, the reduction finds the same violations as visiting every order of commands.
func TestExploreMessages(t *testing.T) {
	t.Parallel()
	consumer := func(url string) (inprocess.Lock, error) { p := &passing{url: url}; return p, p.open() }
	token := func(url string) (inprocess.Lock, error) { p := &fetching{url: url}; return p, p.open() }
	tokens := func(url string) (inprocess.Lock, error) { p := &fetching{url: url, bug: true}; return p, p.open() }
	hasty := func(url string) (inprocess.Lock, error) { p := &fetching{url: url, hasty: true}; return p, p.open() }
	for name, k := range map[string]struct {
		kind    lock.Kind
		lock    func(url string) (inprocess.Lock, error)
		clients [][]scenario.Operation
		faults  sim.FaultBounds
		found   property.Set
	}{
		"exclusive consumer":             {lock.Mutex, consumer, [][]scenario.Operation{{acquire, release}, {acquire}}, sim.FaultBounds{}, 0},
		"exclusive consumer, which dies": {lock.Mutex, consumer, [][]scenario.Operation{{acquire}, {acquire}}, sim.FaultBounds{Crashes: 1, Late: true}, 0},
		"token":                          {lock.PersistentMutex, token, [][]scenario.Operation{{acquire, verify, release}, {acquire}}, sim.FaultBounds{}, 0},
		"token, whose channel is closed": {lock.PersistentMutex, token, [][]scenario.Operation{{acquire, verify}, {acquire}}, sim.FaultBounds{ChannelErrors: 1}, 0},
		"token that is not waited for":   {lock.PersistentMutex, hasty, [][]scenario.Operation{{acquire, release}, {acquire}}, sim.FaultBounds{}, of(property.Linearizable)},
		"token that anybody makes":       {lock.PersistentMutex, tokens, [][]scenario.Operation{{acquire}, {acquire}}, sim.FaultBounds{}, of(property.MutualExclusion, property.Linearizable)},
	} {
		t.Run(name, func(t *testing.T) {
			runner := runnerOf(t, k.kind, "messages", k.lock)
			sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}}
			if k.kind == lock.Mutex {
				sc.Locks[0].Slots = 0
			}
			for _, ops := range k.clients {
				sc.Clients = append(sc.Clients, scenario.Client{Ops: ops})
			}
			if _, _, found := sameOutcomes(t, runner, sc, k.faults); found&k.found != k.found || k.found == 0 && found&^property.Promises != 0 {
				t.Errorf("violated: %v", found.Names())
			}
		})
	}
}
