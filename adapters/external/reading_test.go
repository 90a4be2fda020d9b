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

// consuming is a mutex that is held by the exclusive consumer of a queue, until its channel ends.
type consuming struct {
	named
	held *amqp091.Channel
}

// consume is a channel by which the first of some queues is consumed exclusively, and what comes of it; none where somebody
// else does, or with an error.
func (m *consuming) consume(queues ...string) (*amqp091.Channel, <-chan amqp091.Delivery, error) {
	if err := m.open(); err != nil {
		return nil, nil, err
	}
	ch, err := m.conn.Channel()
	if err != nil {
		return nil, nil, err
	}
	for _, q := range queues {
		if _, err := ch.QueueDeclare(q, true, false, false, false, nil); err != nil {
			return nil, nil, err
		}
	}
	messages, err := ch.Consume(queues[0], "", false, true, false, false, nil)
	if e, ok := errors.AsType[*amqp091.Error](err); ok && e.Code == amqp091.AccessRefused {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return ch, messages, nil
}

func (m *consuming) Verify(_ context.Context, name string, _ int) (bool, error) {
	if m.held == nil {
		return false, nil
	}
	_, err := m.held.QueueDeclarePassive(m.name(name), true, false, false, false, nil)
	return err == nil, nil
}

func (m *consuming) Release(context.Context, string, int) error {
	if m.held == nil {
		return nil
	}
	ch := m.held
	m.held = nil
	return ch.Close()
}

// reading is held by the exclusive consumer of a queue, who reads what messages it has up to one of its own, and keeps that until
// its channel ends. Who was interrupted leaves one more, which the next takes away.
type reading struct{ consuming }

func (m *reading) Acquire(ctx context.Context, name string) (int, error) {
	ch, messages, err := m.consume(m.name(name))
	if ch == nil {
		return 0, err
	}
	err = ch.PublishWithContext(ctx, "", m.name(name), false, false, amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: []byte("mine")})
	if err != nil {
		return 0, err
	}
	for d := range messages {
		if !d.Redelivered {
			m.held = ch
			return 1, nil
		}
		if err := d.Ack(false); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("the channel has ended")
}

// TestReadsExclusively: who consumes a queue exclusively holds the lock, whatever messages there are of the queue.
func TestReadsExclusively(t *testing.T) {
	runner := mutexRunner(t, "reading", func(url string) (inprocess.Lock, error) {
		m := &reading{consuming{named: named{url: url, name: lockName}}}
		return m, m.open()
	})
	if got, want := runner.Held(), "the consumer of the queue {name}.lock"; got != want {
		t.Errorf("held by %s, expected %s", got, want)
	}
	ops := []scenario.Operation{acquire, {Op: lock.Verify}, {Op: lock.Release}}
	for n := range 8 {
		actions := append(steps(1, n), scenario.Action{Kind: scenario.CrashEffect, Client: 1})
		expectRight(t, carriedOut(t, runner, append(actions, steps(2, 12)...), ops, append(ops, ops...)))
	}
}
