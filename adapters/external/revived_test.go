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

// flagged is held by who has the message of a queue, which a restart takes away. It is made once, and another queue says that it is:
// one that stays, or goes as well.
type flagged struct {
	named
	stays bool
}

func (m *flagged) Acquire(ctx context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	_, err := m.ch.QueueDeclarePassive(m.name(name)+".made", m.stays, false, false, false, nil)
	if e, ok := errors.AsType[*amqp091.Error](err); ok && e.Code == amqp091.NotFound {
		err = m.make(ctx, name)
	}
	if err != nil {
		return 0, err
	}
	if _, ok, err := m.ch.Get(m.name(name), false); !ok || err != nil {
		return 0, err
	}
	m.holds = name
	return 1, nil
}

func (m *flagged) make(ctx context.Context, name string) error {
	if err := m.open(); err != nil {
		return err
	}
	if _, err := m.ch.QueueDeclare(m.name(name), false, false, false, false, nil); err != nil {
		return err
	}
	c, err := m.ch.PublishWithDeferredConfirm("", m.name(name), true, false, amqp091.Publishing{})
	if err == nil {
		_, err = c.WaitContext(ctx)
	}
	if err == nil {
		_, err = m.ch.QueueDeclare(m.name(name)+".made", m.stays, false, false, false, nil)
	}
	return err
}

func (m *flagged) Release(context.Context, string, int) error {
	if m.holds == "" || m.ch.IsClosed() {
		return nil
	}
	m.holds = ""
	return m.ch.Close()
}

// TestRevived: a mutex that a restart takes away is made again by who wants it, or lost.
func TestRevived(t *testing.T) {
	for _, stays := range []bool{false, true} {
		runner := mutexRunner(t, "flagged", func(url string) (inprocess.Lock, error) {
			m := &flagged{named{url: url, name: lockName}, stays}
			return m, m.open()
		})
		actions := append(append(steps(1, 12), scenario.Action{Kind: scenario.Restart}), steps(1, 12)...)
		x := carriedOut(t, runner, actions, []scenario.Operation{acquire, {Op: lock.Release}, acquire})
		if lost := x.Found.Has(property.SurvivesRestart); lost != stays {
			t.Errorf("lost: %v, expected %v\n%s", lost, stays, drawn(x))
		}
	}
}

// brittle ends by itself if it has lost its connection.
type brittle struct{ flagged }

func (m *brittle) Acquire(ctx context.Context, name string) (int, error) {
	if m.conn.IsClosed() {
		panic("no connection")
	}
	slot, err := m.flagged.Acquire(ctx, name)
	if err != nil {
		panic(err)
	}
	return slot, nil
}

// TestNotRevived: who ends by itself when it is asked for the mutexes after a restart can't be asked for the next one.
func TestNotRevived(t *testing.T) {
	runner := mutexRunner(t, "brittle", func(url string) (inprocess.Lock, error) {
		m := &brittle{flagged{named: named{url: url, name: lockName}}}
		return m, m.open()
	})
	use := scenario.Client{Ops: []scenario.Operation{acquire, {Op: lock.Release}}}
	other := use
	other.Lock = 1
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks: []scenario.Lock{{Name: "jobs"}, {Name: "mail"}}, Clients: []scenario.Client{use, other},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: append(append(steps(1, 12), steps(2, 12)...), scenario.Action{Kind: scenario.Restart})},
	})
	if err != nil {
		t.Fatal(err)
	}
	expectRight(t, x)
}
