package foreign_test

import (
	"context"
	"fmt"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// mutexRunner runs clients of a mutex, each of which is opened with its broker's address.
func mutexRunner(t *testing.T, name string, open func(url string) (inprocess.Lock, error)) *foreign.Runner {
	t.Helper()
	return runnerOf(t, lock.Mutex, name, open)
}

// semaphoreRunner is the same for semaphores.
func semaphoreRunner(t *testing.T, name string, open func(url string) (inprocess.Lock, error)) *foreign.Runner {
	t.Helper()
	return runnerOf(t, lock.Semaphore, name, open)
}

func runnerOf(t *testing.T, kind lock.Kind, name string, open func(url string) (inprocess.Lock, error)) *foreign.Runner {
	t.Helper()
	return timedRunner(t, kind, foreign.Timing{}, name, open) // a busy machine is no reason to give up
}

// timedRunner is the same for those who wait for clients in other ways.
func timedRunner(t *testing.T, kind lock.Kind, timing foreign.Timing, name string, open func(url string) (inprocess.Lock, error)) *foreign.Runner {
	t.Helper()
	runner, err := foreign.NewRunner(t.Context(), foreign.Config{Kind: kind, Timing: timing, Starter: inprocess.Starter{
		Name: name, New: func(_ context.Context, url string) (inprocess.Lock, error) { return open(url) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}

// carriedOut is the execution in which clients that call so much of one lock do these actions, as far as they can.
func carriedOut(t *testing.T, runner *foreign.Runner, actions []scenario.Action, calls ...[]scenario.Operation) *foreign.Execution {
	t.Helper()
	sc := scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs"}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: actions},
	}
	for _, ops := range calls {
		sc.Clients = append(sc.Clients, scenario.Client{Ops: ops})
	}
	x, err := runner.Run(t.Context(), &sc)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// named is a true mutex whose queue has a name of its author's choice.
type named struct {
	url   string
	name  func(lock string) string
	keeps amqp091.Table // what its queue keeps of messages; nothing by default
	conn  *amqp091.Connection
	ch    *amqp091.Channel
	ret   chan amqp091.Return
	holds string
}

func (m *named) open() (err error) {
	if m.conn == nil || m.conn.IsClosed() {
		m.holds = ""
		if m.conn, err = amqp091.Dial(m.url); err != nil {
			return err
		}
		m.ch = nil
	}
	if m.ch == nil || m.ch.IsClosed() {
		if m.ch, err = m.conn.Channel(); err != nil {
			return err
		}
		m.ret = m.ch.NotifyReturn(make(chan amqp091.Return, 1))
		err = m.ch.Confirm(false)
	}
	return err
}

// kept are the arguments that say what its queues keep of messages: nothing, unless it is told otherwise.
func (m *named) kept() amqp091.Table {
	if m.keeps == nil {
		return amqp091.Table{"x-max-length": int32(0)}
	}
	return m.keeps
}

func (m *named) Acquire(ctx context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	c, err := m.ch.PublishWithDeferredConfirm("", m.name(name), true, false, amqp091.Publishing{})
	if err != nil {
		return 0, err
	}
	if ok, err := c.WaitContext(ctx); err != nil || !ok {
		return 0, fmt.Errorf("probing %s: %v, %w", name, ok, err)
	}
	select {
	case <-m.ret:
	default:
		return 0, nil
	}
	if _, err := m.ch.QueueDeclare(m.name(name), false, false, true, false, m.kept()); err != nil {
		if e, ok := err.(*amqp091.Error); ok && e.Code == amqp091.ResourceLocked {
			return 0, m.open()
		}
		return 0, err
	}
	m.holds = name
	return 1, nil
}

func (m *named) Verify(context.Context, string, int) (bool, error) {
	return m.holds != "" && !m.conn.IsClosed(), nil
}

func (m *named) Release(_ context.Context, name string, _ int) error {
	if m.holds != name {
		return nil
	}
	m.holds = ""
	if err := m.open(); err != nil {
		return err
	}
	_, err := m.ch.QueueDelete(m.name(name), false, false, false)
	return err
}

func (m *named) Close() error { return m.conn.Close() }
