package foreign_test

import (
	"context"
	"errors"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// passing is a mutex: its holder is the exclusive consumer of a queue. If fleeting is set, the queue is deleted with
// its last consumer. If arguments is set, a refusal may already be the error 406 PRECONDITION_FAILED of declaring the
// queue, while another client holds it.
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
