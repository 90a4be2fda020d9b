package external_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// bound is a persistent mutex that is there by an exchange. Whoever has the exclusive queue holds it, as long as the queue is bound
// there: another exchange of that name is another mutex.
type bound struct {
	named
	lying bool // verify says no, whatever there is
}

// refused is no error where the broker closed the channel to say no.
func refused(err error) error {
	if closed, ok := errors.AsType[*amqp091.Error](err); ok && (closed.Code == amqp091.ResourceLocked || closed.Code == amqp091.NotFound) {
		return nil
	}
	return err
}

func (m *bound) Acquire(ctx context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	if _, err := m.ch.QueueDeclare(name+".holder", false, false, true, false, nil); err != nil {
		return 0, refused(err)
	}
	if err := m.ch.QueueBind(name+".holder", "", name+".mutex", false, nil); err == nil {
		return 1, nil
	}
	err := m.open()
	if err == nil {
		err = m.Release(ctx, name, 1)
	}
	return 0, err
}

func (m *bound) Verify(ctx context.Context, name string, _ int) (bool, error) {
	if m.conn.IsClosed() {
		return false, nil
	}
	c, err := m.ch.PublishWithDeferredConfirm(name+".mutex", "", true, false, amqp091.Publishing{})
	if err == nil {
		_, err = c.WaitContext(ctx)
	}
	gone := err != nil || m.lying
	select {
	case <-m.ret:
		gone = true
	default:
	}
	if gone && m.open() == nil {
		err = m.Release(ctx, name, 1)
	}
	return !gone, err
}

func (m *bound) Release(_ context.Context, name string, _ int) error {
	_, err := m.ch.QueueDelete(name+".holder", false, false, false)
	return err
}

func (m *bound) Create(_ context.Context, name string, _ int) error {
	return errors.Join(m.open(), m.ch.ExchangeDeclare(name+".mutex", "fanout", true, false, false, false, nil))
}

func (m *bound) Destroy(_ context.Context, name string) error {
	return errors.Join(m.open(), m.ch.ExchangeDelete(name+".mutex", false, false))
}

func (m *bound) Count(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	if err := m.ch.ExchangeDeclarePassive(name+".mutex", "fanout", true, false, false, false, nil); err != nil {
		return 0, refused(err)
	}
	return 1, nil
}

// TestReplaced: a holder may be told that it has lost a lock that was destroyed and made again, but not one that was not.
func TestReplaced(t *testing.T) {
	for _, lying := range []bool{false, true} {
		runner := runnerOf(t, lock.PersistentMutex, "bound", func(url string) (inprocess.Lock, error) {
			return &bound{named{url: url}, lying}, nil
		})
		again := []scenario.Operation{{Op: lock.Destroy}, {Op: lock.Create, Arg: 1}}
		if lying {
			again = []scenario.Operation{{Op: lock.Count}}
		}
		sc := scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire, {Op: lock.Verify}}}, {Ops: again}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(1, 2), steps(2, 2), steps(1, 2))},
		}
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Found.Has(property.Linearizable) != lying {
			t.Errorf("lying: %v: %v\n%s", lying, x.Violations, drawn(x))
		}
	}
}

// TestClaimedUnanswered: whoever has claimed a persistent mutex before it looks whether that is there has withdrawn when it
// gives up, also where its claim has no answer.
func TestClaimedUnanswered(t *testing.T) {
	runner := runnerOf(t, lock.PersistentMutex, "unanswered", func(url string) (inprocess.Lock, error) { return &unanswered{bound{named: named{url: url}}}, nil })
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs"}},
		Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{{Op: lock.Create, Arg: 1}}}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(1, 2), steps(3, 3), steps(2, 3), steps(1, 3))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if x.Found != 0 {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}

// unanswered is a persistent mutex that is there by a queue, for which an acquire looks behind a claim whose answer it does not wait for.
type unanswered struct{ bound }

func (m *unanswered) Acquire(ctx context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	if _, err := m.ch.QueueDeclare(name+".holder", false, false, true, true, nil); err != nil {
		return 0, err
	}
	_, err := m.ch.QueueDeclarePassive(name+".mutex", true, false, false, false, nil)
	if err == nil {
		return 1, nil
	}
	if closed, ok := errors.AsType[*amqp091.Error](err); !ok || closed.Code != amqp091.NotFound {
		return 0, refused(err)
	}
	if err = m.open(); err == nil {
		err = m.Release(ctx, name, 1)
	}
	return 0, err
}

func (m *unanswered) Verify(context.Context, string, int) (bool, error) {
	return !m.conn.IsClosed(), nil
}

func (m *unanswered) Create(_ context.Context, name string, _ int) error {
	if err := m.open(); err != nil {
		return err
	}
	_, err := m.ch.QueueDeclare(name+".mutex", true, false, false, false, nil)
	return err
}

func (m *unanswered) Destroy(_ context.Context, name string) error {
	if err := m.open(); err != nil {
		return err
	}
	_, err := m.ch.QueueDelete(name+".mutex", false, false, false)
	return err
}

func (m *unanswered) Count(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	if _, err := m.ch.QueueDeclarePassive(name+".mutex", true, false, false, false, nil); err != nil {
		return 0, refused(err)
	}
	return 1, nil
}

// sealing is the same; who has released it looks whether the mutex is still there, and fails if it is not.
type sealing struct{ unanswered }

func (m *sealing) Release(ctx context.Context, name string, slot int) error {
	err := m.bound.Release(ctx, name, slot)
	if err == nil {
		_, err = m.ch.QueueDeclarePassive(name+".mutex", true, false, false, false, nil)
	}
	return err
}

// TestDestroyedInRelease: a release may fail in whose midst the lock was destroyed.
func TestDestroyedInRelease(t *testing.T) {
	runner := runnerOf(t, lock.PersistentMutex, "sealing", func(url string) (inprocess.Lock, error) {
		return &sealing{unanswered{bound{named: named{url: url}}}}, nil
	})
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire, {Op: lock.Release}}}, {Ops: []scenario.Operation{{Op: lock.Destroy}}}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(1, 3), steps(2, 1), steps(1, 1))},
	})
	if err != nil {
		t.Fatal(err)
	}
	expectRight(t, x)
}

// stuffed is the same, with a message in its queue: it is there when that is.
type stuffed struct{ unanswered }

func (m *stuffed) Create(ctx context.Context, name string, slots int) error {
	if err := m.unanswered.Create(ctx, name, slots); err != nil {
		return err
	}
	c, err := m.ch.PublishWithDeferredConfirm("", name+".mutex", false, false, amqp091.Publishing{DeliveryMode: amqp091.Persistent})
	if err == nil {
		_, err = c.WaitContext(ctx)
	}
	return err
}

func (m *stuffed) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := m.unanswered.Acquire(ctx, name)
	if slot == 0 || err != nil {
		return slot, err
	}
	q, err := m.ch.QueueDeclarePassive(name+".mutex", true, false, false, false, nil)
	if err == nil && q.Messages == 0 {
		return 0, m.Release(ctx, name, 1)
	}
	return 1, err
}

// TestHalfMade: a lock is not there whose queue is made, but not yet the message that it has.
func TestHalfMade(t *testing.T) {
	runner := runnerOf(t, lock.PersistentMutex, "stuffed", func(url string) (inprocess.Lock, error) {
		return &stuffed{unanswered{bound{named: named{url: url}}}}, nil
	})
	for _, actions := range [][]scenario.Action{
		slices.Concat(steps(2, 1), []scenario.Action{{Kind: scenario.CrashBefore, Client: 2}}, steps(1, 8)),
		slices.Concat(steps(2, 2), []scenario.Action{{Kind: scenario.Restart}}, steps(1, 8)), // it is there by then
	} {
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs"}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire, acquire}}, {Ops: []scenario.Operation{{Op: lock.Create, Arg: 1}}}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: actions},
		})
		if err != nil {
			t.Fatal(err)
		}
		expectRight(t, x)
	}
}
