package external_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// dialled is a mutex that dials once. What becomes of it when its connection is lost is up to it.
type dialled struct {
	named
	lost func(*dialled)
	next atomic.Pointer[amqp091.Connection]
}

func (m *dialled) Acquire(ctx context.Context, name string) (int, error) {
	if next := m.next.Swap(nil); next != nil {
		m.conn = next
	}
	if m.conn != nil && m.conn.IsClosed() {
		m.lost(m)
		return 0, amqp091.ErrClosed
	}
	return m.named.Acquire(ctx, name)
}

// TestStranded: who never opens another connection for one that was lost is told of; not so who does so for the operation after
// the one that fails, or by itself.
func TestStranded(t *testing.T) {
	for name, c := range map[string]struct {
		lost     func(*dialled)
		revival  time.Duration
		stranded bool
	}{
		"never":        {func(*dialled) {}, time.Millisecond, true},
		"for the next": {func(m *dialled) { m.conn = nil }, time.Millisecond, false},
		"by itself":    {func(m *dialled) { go m.redial() }, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			runner := timedRunner(t, lock.Mutex, external.Timing{Revival: c.revival}, "dialled", func(url string) (inprocess.Lock, error) {
				m := &dialled{named: named{url: url, name: func(n string) string { return "dialled-" + n }}, lost: c.lost}
				return m, m.open()
			})
			actions := append([]scenario.Action{{Kind: scenario.Drop, Client: 1}}, steps(1, 9)...)
			x := carriedOut(t, runner, actions, slices.Repeat([]scenario.Operation{acquire}, 4))
			if x.Found.Has(property.Progress) != c.stranded {
				t.Errorf("%v\n%s", x.Violations, drawn(x))
			}
		})
	}
}

// TestLostAgain: who opens another connection in the third operation, and loses that as well, was not without one for good.
func TestLostAgain(t *testing.T) {
	runner := timedRunner(t, lock.Mutex, external.Timing{Revival: time.Millisecond}, "dialled", func(url string) (inprocess.Lock, error) {
		m := &dialled{named: named{url: url, name: func(n string) string { return "dialled-" + n }}, lost: func(m *dialled) { m.conn = nil }}
		return m, m.open()
	})
	drop := []scenario.Action{{Kind: scenario.Drop, Client: 1}}
	x := carriedOut(t, runner, slices.Concat(drop, steps(1, 5), drop, steps(1, 4)), slices.Repeat([]scenario.Operation{acquire}, 3))
	if x.Found.Has(property.Progress) {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}

// redial opens a connection that the next operation uses.
func (m *dialled) redial() {
	if conn, err := amqp091.Dial(m.url); err == nil {
		m.next.Store(conn)
	}
}

// counting is a tidy semaphore that counts by a connection of its own each time, and of which nobody gets what is not there.
type counting struct{ tidy }

func (s *counting) Count(_ context.Context, name string) (int, error) {
	conn, err := amqp091.Dial(s.url)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return 0, err
	}
	q, err := ch.QueueDeclarePassive("slots-"+name, true, false, false, false, nil)
	return q.Messages, err
}

func (s *counting) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := s.tidy.Acquire(ctx, name)
	if gone, ok := errors.AsType[*amqp091.Error](err); ok && gone.Code == amqp091.NotFound {
		return 0, nil
	}
	return slot, err
}

// TestNotStranded: another connection of a process that it closes itself is not the one that it goes on by.
func TestNotStranded(t *testing.T) {
	runner := timedRunner(t, lock.Semaphore, external.Timing{Revival: time.Millisecond}, "counting", func(url string) (inprocess.Lock, error) {
		return &counting{tidy{url: url}}, nil
	})
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks: []scenario.Lock{{Name: "jobs", Slots: 1}, {Name: "other", Slots: 1}},
		Clients: []scenario.Client{
			{Ops: slices.Repeat([]scenario.Operation{acquire}, 6)}, {Ops: []scenario.Operation{{Op: lock.Destroy}}},
			{Lock: 1, With: 1, Ops: []scenario.Operation{{Op: lock.Count}}},
		},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(3, 4), steps(2, 3), steps(1, 20))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if x.Found.Has(property.Progress) {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}
