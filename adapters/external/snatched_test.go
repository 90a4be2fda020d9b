package external_test

import (
	"context"
	"errors"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// passing is a mutex by the exclusive consumer of a queue, which goes with its last consumer if fleeting is set. With arguments of its
// own, it is refused already to declare the queue while somebody else has it.
type passing struct {
	url       string
	fleeting  bool
	arguments amqp091.Table
	conn      *amqp091.Connection
	ch        *amqp091.Channel
}

func (p *passing) open() (err error) {
	if p.conn == nil {
		if p.conn, err = amqp091.Dial(p.url); err != nil {
			return err
		}
	}
	if p.ch == nil || p.ch.IsClosed() {
		p.ch, err = p.conn.Channel()
	}
	return err
}

func (p *passing) Acquire(_ context.Context, name string) (int, error) {
	if err := p.open(); err != nil {
		return 0, err
	}
	_, err := p.ch.QueueDeclare("lock-"+name, false, p.fleeting, false, false, p.arguments)
	if err == nil {
		_, err = p.ch.Consume("lock-"+name, name, false, true, false, false, nil)
	}
	var closed *amqp091.Error
	if errors.As(err, &closed) && (closed.Code == amqp091.AccessRefused || p.arguments != nil && closed.Code == amqp091.PreconditionFailed) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return 1, nil
}

func (p *passing) Verify(context.Context, string, int) (bool, error) { return !p.ch.IsClosed(), nil }

func (p *passing) Release(_ context.Context, name string, _ int) error {
	return p.ch.Cancel(name, false)
}

func (p *passing) Close() error { return p.conn.Close() }

// TestSnatched: a queue that goes with its last consumer may go between another's declaring and consuming it.
func TestSnatched(t *testing.T) {
	for _, fleeting := range []bool{false, true} {
		runner := mutexRunner(t, "passing", func(url string) (inprocess.Lock, error) {
			p := &passing{url: url, fleeting: fleeting}
			return p, p.open()
		})
		actions := append(append(append(steps(1, 2), steps(2, 1)...), steps(1, 1)...), steps(2, 1)...)
		x := carriedOut(t, runner, actions, []scenario.Operation{acquire, {Op: lock.Release}}, []scenario.Operation{acquire})
		if x.Found.Has(property.Progress) != fleeting {
			t.Errorf("fleeting: %v: %v\n%s", fleeting, x.Violations, drawn(x))
		}
	}
}
