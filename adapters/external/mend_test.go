package external_test

import (
	"context"
	"errors"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// mending is a right mutex by an exclusive queue. It opens a channel when it needs one: for one that a refused claim has
// closed, in its next operation.
type mending struct {
	conn  *amqp091.Connection
	ch    *amqp091.Channel
	holds bool
	often bool // it opens one for every acquire
}

func (m *mending) Acquire(_ context.Context, name string) (slot int, err error) {
	if m.often || m.ch == nil || m.ch.IsClosed() {
		if m.ch, err = m.conn.Channel(); err != nil {
			return 0, err
		}
	}
	_, err = m.ch.QueueDeclare(name, false, false, true, false, nil)
	if e, ok := errors.AsType[*amqp091.Error](err); ok && e.Code == amqp091.ResourceLocked {
		return 0, nil
	}
	m.holds = err == nil
	return 1, err
}

func (m *mending) Verify(context.Context, string, int) (bool, error) { return m.holds, nil }

func (m *mending) Release(_ context.Context, name string, _ int) error {
	m.holds = false
	_, err := m.ch.QueueDelete(name, false, false, false)
	return err
}

func (m *mending) Close() error { return m.conn.Close() }

// TestMendsLater: a channel that a refused claim has closed may be opened again in a later acquire; one that nothing has
// closed may not.
func TestMendsLater(t *testing.T) {
	for _, often := range []bool{false, true} {
		runner := newLockRunner(t, 0, func(_ context.Context, url string) (inprocess.Lock, error) {
			conn, err := amqp091.Dial(url)
			return &mending{conn: conn, often: often}, err
		})
		runner.Measure(external.SettleLong)
		step := func(c uint8) scenario.Action { return scenario.Action{Kind: scenario.Step, Client: c} }
		sc := runner.Playable(scenario.Scenario{
			Locks: []scenario.Lock{{Name: "jobs"}},
			Clients: []scenario.Client{
				{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}},
				{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Acquire}, {Op: lock.Release}}},
			},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: []scenario.Action{
				step(1), step(2), step(1), step(2), step(2), step(2),
			}},
		})
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Found.Has(property.CheapAcquire) != often || x.Found&^external.Measured != 0 {
			t.Errorf("opens a channel each time: %v; found %v\n%s", often, x.Violations, drawn(x))
		}
	}
}
