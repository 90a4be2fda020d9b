package external_test

import (
	"context"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// challenging is a mutex by the single active consumer of a queue: whoever is sent what it has published itself is that one.
type challenging struct {
	url  string
	conn *amqp091.Connection
	ch   *amqp091.Channel
}

func (c *challenging) Acquire(_ context.Context, name string) (slot int, err error) {
	if c.ch == nil || c.ch.IsClosed() {
		if c.conn, err = amqp091.Dial(c.url); err != nil {
			return 0, err
		}
		if c.ch, err = c.conn.Channel(); err != nil {
			return 0, err
		}
	}
	q, err := c.ch.QueueDeclare("sac-"+name, true, false, false, false, amqp091.Table{"x-single-active-consumer": true})
	if err != nil {
		return 0, err
	}
	sent, err := c.ch.Consume(q.Name, name, true, false, false, false, nil)
	if err != nil {
		return 0, err
	}
	if err := c.ch.Publish("", q.Name, false, false, amqp091.Publishing{}); err != nil {
		return 0, err
	}
	select {
	case <-sent:
		return 1, nil
	case <-time.After(time.Second):
		return 0, c.ch.Cancel(name, false)
	}
}

func (c *challenging) Verify(context.Context, string, int) (bool, error) {
	return !c.ch.IsClosed(), nil
}

func (c *challenging) Release(_ context.Context, name string, _ int) error {
	return c.ch.Cancel(name, false)
}

func (c *challenging) Close() error { return c.conn.Close() }

// A client that waits for what it has sent itself, for a second, is granted the lock.
func TestChallenge(t *testing.T) {
	runner := mutexRunner(t, "challenging", func(url string) (inprocess.Lock, error) { return &challenging{url: url}, nil })
	x := carriedOut(t, runner, steps(1, 6), []scenario.Operation{acquire})
	if last := x.History.Events[len(x.History.Events)-1]; last.Type != history.OK || !last.Held || last.F.Op() != lock.Acquire {
		t.Errorf("%+v\n%s", last, drawn(x))
	}
}
