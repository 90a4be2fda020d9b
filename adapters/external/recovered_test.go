package external_test

import (
	"context"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// recovering is a mutex by an exclusive queue whose driver connects again by a clock of its own. What it had declared it declares
// again, if it is wrong, although its client has said meanwhile that it has lost the lock.
type recovering struct {
	url   string
	wrong bool

	mu       sync.Mutex
	conn     *amqp091.Connection
	held     bool
	declared string // the queue
}

func (m *recovering) connect() error {
	conn, err := amqp091.Dial(m.url)
	if err != nil {
		return err
	}
	lost := conn.NotifyClose(make(chan *amqp091.Error, 1))
	m.conn = conn
	go func() {
		if reason := <-lost; reason != nil {
			m.recover()
		}
	}()
	return nil
}

func (m *recovering) recover() {
	m.mu.Lock()
	m.held = false
	m.mu.Unlock()
	time.Sleep(20 * time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.connect() == nil && m.wrong && m.declared != "" {
		_, _ = m.declare(m.declared)
	}
}

func (m *recovering) declare(queue string) (bool, error) {
	ch, err := m.conn.Channel()
	if err != nil {
		return false, err
	}
	_, err = ch.QueueDeclare(queue, false, false, true, false, nil)
	if e, ok := err.(*amqp091.Error); ok && e.Code == amqp091.ResourceLocked {
		return false, nil
	}
	return err == nil, err
}

func (m *recovering) Acquire(_ context.Context, name string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn.IsClosed() {
		return 0, amqp091.ErrClosed
	}
	got, err := m.declare("recovering-" + name)
	if !got {
		return 0, err
	}
	m.held, m.declared = true, "recovering-"+name
	return 1, nil
}

func (m *recovering) Verify(_ context.Context, name string, _ int) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held {
		ch, err := m.conn.Channel()
		if err == nil {
			_, err = ch.QueueDeclarePassive("recovering-"+name, false, false, true, false, nil)
		}
		m.held = err == nil
	}
	return m.held, nil
}

func (m *recovering) Release(_ context.Context, name string, _ int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.held || m.conn.IsClosed() {
		return nil
	}
	ch, err := m.conn.Channel()
	if err == nil {
		_, err = ch.QueueDelete("recovering-"+name, false, false, false)
	}
	m.held, m.declared = false, ""
	return err
}

func (m *recovering) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conn.Close()
}

// TestRecovered: a driver that declares again, by its own clock, what its client has given up is told of.
func TestRecovered(t *testing.T) {
	for _, wrong := range []bool{false, true} {
		runner := timedRunner(t, lock.Mutex, external.Timing{Revival: time.Minute, Recovery: 5 * time.Second}, "recovering", func(url string) (inprocess.Lock, error) {
			m := &recovering{url: url, wrong: wrong}
			return m, m.connect()
		})
		runner.Recovers(true)
		actions := append(steps(1, 2), scenario.Action{Kind: scenario.Drop, Client: 1}, step(1), step(1))
		x := carriedOut(t, runner, actions, []scenario.Operation{acquire, {Op: lock.Verify}})
		if x.Found.Has(property.NoLeak) != wrong {
			t.Errorf("wrong %v: %v\n%s", wrong, x.Violations, drawn(x))
		}
	}
}
