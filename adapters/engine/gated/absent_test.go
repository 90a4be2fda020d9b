package gated_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/engine"
	"github.com/lockproof/lockproof/adapters/engine/gated"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
)

// absent is a persistent mutex: a durable queue, and an exclusive queue for its holder. An acquire of a mutex whose
// queue does not exist returns the driver's error or, if polite is set, that the lock is not held.
type absent struct {
	conn   *amqp.Connection
	polite bool
}

// ask sends commands on a new channel. If the broker closes the channel, ask returns the reply code, for example 404.
func (c *absent) ask(do func(ch *amqp.Channel) error) (code int, err error) {
	ch, err := c.conn.Channel()
	if err != nil {
		return 0, err
	}
	var refused *amqp.Error
	if err = do(ch); errors.As(err, &refused) {
		return refused.Code, err
	}
	return 0, errors.Join(err, ch.Close())
}

func (c *absent) Acquire(_ context.Context, name string) (int, error) {
	code, err := c.ask(func(ch *amqp.Channel) error {
		if _, err := ch.QueueDeclarePassive(name, true, false, false, false, nil); err != nil {
			return err
		}
		_, err := ch.QueueDeclare(name+".holder", false, false, true, false, nil)
		return err
	})
	switch {
	case code == amqp.ResourceLocked, code == amqp.NotFound && c.polite:
		return 0, nil
	case err != nil:
		return 0, err
	}
	return 1, nil
}

func (c *absent) Verify(context.Context, string, int) (bool, error) { return !c.conn.IsClosed(), nil }

func (c *absent) Release(_ context.Context, name string, _ int) error {
	return c.delete(name + ".holder")
}

func (c *absent) Create(_ context.Context, name string, _ int) error {
	_, err := c.ask(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(name, true, false, false, false, nil)
		return err
	})
	return err
}

func (c *absent) Destroy(_ context.Context, name string) error { return c.delete(name) }

func (c *absent) delete(queue string) error {
	_, err := c.ask(func(ch *amqp.Channel) error {
		_, err := ch.QueueDelete(queue, false, false, false)
		return err
	})
	return err
}

func (c *absent) Count(context.Context, string) (int, error) {
	return 0, errors.New("it is not counted")
}
func (c *absent) Close() error { return c.conn.Close() }

// TestAbsent checks the advice in the report. If an acquire fails with an error because the lock does not exist, the
// report says what acquire has to answer instead.
func TestAbsent(t *testing.T) {
	t.Parallel()
	for _, polite := range []bool{false, true} {
		start := func(_ context.Context, url string) (inprocess.Lock, error) {
			conn, err := amqp.Dial(url)
			return &absent{conn, polite}, err
		}
		res, err := gated.Prove(t.Context(), gated.Config{
			Lock: gated.Lock{Starter: inprocess.Starter{Name: "absent", New: start}, Kind: lock.PersistentMutex}, Sampling: engine.Sampling{Seed: 1, Scenarios: 30},
		})
		if err != nil {
			t.Fatal(err)
		}
		readings := strings.Join(res.Report.Readings, "\n")
		if said := strings.Contains(readings, `acquire has to answer {"held":false} then`); said == polite {
			t.Errorf("polite: %v, and the card says %q", polite, readings)
		}
	}
}
