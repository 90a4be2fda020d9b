package external_test

import (
	"context"
	"errors"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// heldFirst is a right mutex whose client opens the connection that holds it first, and then another, on which it asks the
// broker something before it answers.
type heldFirst struct {
	named
	asking *amqp091.Connection
	asks   *amqp091.Channel
}

func (m *heldFirst) connect() (err error) {
	if err = m.open(); err != nil {
		return err
	}
	if m.asking, err = amqp091.Dial(m.url); err != nil {
		return err
	}
	m.asks, err = m.asking.Channel()
	return err
}

func (m *heldFirst) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := m.named.Acquire(ctx, name)
	return slot, errors.Join(err, m.asks.Qos(1, 0, false))
}

func (m *heldFirst) Close() error { return errors.Join(m.asking.Close(), m.named.Close()) }

// A connection that holds a lock is dropped before the acquire has been answered, and it is not the one that the client opened
// last: the history has the end of a connection of that client.
func TestHeldByTheFirstConnection(t *testing.T) {
	runner := mutexRunner(t, "held first", func(url string) (inprocess.Lock, error) {
		m := &heldFirst{named: named{url: url, name: func(n string) string { return n + ".lock" }}}
		return m, m.connect()
	})
	actions := append(steps(1, 2), scenario.Action{Kind: scenario.Drop, Client: 1, Arg: 1})
	actions = append(append(actions, steps(1, 1)...), steps(2, 3)...)
	acquire := []scenario.Operation{{Op: lock.Acquire}}
	x := carriedOut(t, runner, actions, acquire, acquire)
	if x.Found != 0 {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}
