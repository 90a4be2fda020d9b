package external_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// shelf is a semaphore whose slots are queues and whose holders have exclusive ones. Whether a queue is there it asks by a
// passive declaration, or as the guidelines do, by publishing, with confirms or in a transaction. They are called A and B if it
// is guided.
type shelf struct {
	named
	publishes, guided, transacts bool
	tx                           *amqp091.Channel
	back                         chan amqp091.Return
}

// commits reports whether a message that is published in a transaction finds a queue.
func (s *shelf) commits(queue string) (bool, error) {
	if s.tx == nil || s.tx.IsClosed() {
		tx, err := s.conn.Channel()
		if err != nil {
			return false, err
		}
		s.tx, s.back = tx, tx.NotifyReturn(make(chan amqp091.Return, 1))
		if err := tx.Tx(); err != nil {
			return false, err
		}
	}
	err := s.tx.Publish("", queue, true, false, amqp091.Publishing{})
	if err == nil {
		err = s.tx.TxCommit()
	}
	select {
	case <-s.back:
		return false, err
	default:
		return true, err
	}
}

func (s *shelf) called(name string, n int, what, guided string) string {
	if s.guided {
		what = guided
	}
	return fmt.Sprintf("%s.%s.%d", name, what, n)
}

func (s *shelf) slot(name string, n int) string   { return s.called(name, n, "place", "A") }
func (s *shelf) holder(name string, n int) string { return s.called(name, n, "holder", "B") }

func (s *shelf) there(queue string) (bool, error) {
	if err := s.open(); err != nil {
		return false, err
	}
	if s.transacts {
		return s.commits(queue)
	}
	if s.publishes {
		c, err := s.ch.PublishWithDeferredConfirm("", queue, true, false, amqp091.Publishing{})
		if err == nil {
			c.Wait()
		}
		return len(s.ret) == 0 || (<-s.ret).ReplyCode == 0, err
	}
	_, err := s.ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	var closed *amqp091.Error
	if errors.As(err, &closed) && closed.Code == amqp091.NotFound {
		return false, s.open()
	}
	return err == nil, err
}

func (s *shelf) Acquire(_ context.Context, name string) (int, error) {
	for n := 1; ; n++ {
		if there, err := s.there(s.slot(name, n)); !there {
			return 0, err
		}
		_, err := s.ch.QueueDeclare(s.holder(name, n), false, false, true, false, nil)
		if err == nil {
			return n, nil
		}
		if err := s.open(); err != nil {
			return 0, err
		}
	}
}

func (s *shelf) Verify(_ context.Context, name string, n int) (bool, error) {
	return s.there(s.slot(name, n))
}

func (s *shelf) Release(_ context.Context, name string, n int) error {
	_, err := s.ch.QueueDelete(s.holder(name, n), false, false, false)
	return err
}

func (s *shelf) Create(_ context.Context, name string, slots int) error {
	for n := 1; n <= slots; n++ {
		if _, err := s.ch.QueueDeclare(s.slot(name, n), true, false, false, false, s.kept()); err != nil {
			return err
		}
	}
	return nil
}

func (s *shelf) Count(_ context.Context, name string) (n int, err error) {
	for there := true; there && err == nil; n++ {
		there, err = s.there(s.slot(name, n+1))
	}
	return n - 1, err
}

func (s *shelf) Destroy(ctx context.Context, name string) error {
	slots, err := s.Count(ctx, name)
	for n := slots; n > 0 && err == nil; n-- {
		_, err = s.ch.QueueDelete(s.slot(name, n), false, false, false)
	}
	return err
}

// The guidelines' budgets bind who asks as they do, by queues with their names. To ask by passive declarations breaks channels, and
// is not wrong; nor is what a design of its own author's costs.
func TestDearer(t *testing.T) {
	for _, test := range []struct{ publishes, guided bool }{{true, true}, {false, true}, {true, false}} {
		runner := semaphoreRunner(t, "shelf", func(url string) (inprocess.Lock, error) {
			s := &shelf{named: named{url: url}, publishes: test.publishes, guided: test.guided}
			return s, s.open()
		})
		if runner.Lenient().Has(property.CheapAcquire) == (test.publishes && test.guided) {
			t.Errorf("%+v: lenient in %b; %s", test, runner.Lenient(), runner.Held())
		}
	}
}

// TestTransactionsAreCheap: a message that is published in a transaction is not waited for, but its commit.
func TestTransactionsAreCheap(t *testing.T) {
	runner := semaphoreRunner(t, "shelf", func(url string) (inprocess.Lock, error) {
		s := &shelf{named: named{url: url}, guided: true, transacts: true}
		return s, s.open()
	})
	runner.Measure(external.Settle)
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{acquire, {Op: lock.Verify}, {Op: lock.Release}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if cheap := property.Set(0).With(property.CheapAcquire).With(property.CheapVerify); x.Found&cheap != 0 || x.Exercised&cheap != cheap {
		t.Errorf("%v, %v\n%s", x.Exercised.Names(), x.Violations, drawn(x))
	}
}

// TestProbesOfSlot: what is left in a slot's queue by those who asked whether it is there is left behind only if it piles up.
func TestProbesOfSlot(t *testing.T) {
	for _, bounded := range []bool{true, false} {
		keeps := amqp091.Table{}
		if bounded {
			keeps["x-max-length"] = int32(1)
		}
		runner := semaphoreRunner(t, "shelf", func(url string) (inprocess.Lock, error) {
			s := &shelf{named: named{url: url, keeps: keeps}, publishes: true}
			return s, s.open()
		})
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:   []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients: []scenario.Client{{Ops: []scenario.Operation{acquire}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !x.Exercised.Has(property.NoLeak) || x.Found.Has(property.NoLeak) == bounded {
			t.Errorf("bounded %v: %v\n%s", bounded, x.Found.Names(), drawn(x))
		}
	}
}

// staffed is a shelf whose administration has a connection of its own, from when it is first needed.
type staffed struct {
	shelf
	office shelf
}

func (s *staffed) Create(ctx context.Context, name string, slots int) error {
	return errors.Join(s.office.open(), s.office.Create(ctx, name, slots))
}

func (s *staffed) Count(ctx context.Context, name string) (int, error) {
	return s.office.Count(ctx, name)
}

func (s *staffed) Destroy(ctx context.Context, name string) error {
	return s.office.Destroy(ctx, name)
}

// TestAdministratorsStay: clients whose administration has a connection of its own are not replaced because they have administered.
func TestAdministratorsStay(t *testing.T) {
	runner := semaphoreRunner(t, "staffed", func(url string) (inprocess.Lock, error) {
		s := &staffed{shelf{named: named{url: url}}, shelf{named: named{url: url}}}
		return s, s.open()
	})
	started := 0
	for i := range 3 {
		_, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:   []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients: []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{{Op: lock.Count}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if spent := runner.Spent(); i == 0 {
			started = spent.Started
		} else if spent.Started != started {
			t.Errorf("%d clients were started, and %d for the first execution", spent.Started, started)
		}
	}
}

// TestRepliesOfChanges: where faults happen to changes, the reply that is lost is that of a change, whatever is asked before it.
func TestRepliesOfChanges(t *testing.T) {
	runner := semaphoreRunner(t, "shelf", func(url string) (inprocess.Lock, error) {
		s := &shelf{named: named{url: url}}
		return s, s.open()
	})
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{acquire, {Op: lock.Verify}, {Op: lock.Release}}}},
		Faults:  []scenario.Fault{{Do: scenario.Lose, Client: 1, At: 2}},
		Deeper:  scenario.EveryChange,
	})
	if err != nil {
		t.Fatal(err)
	}
	lost := slices.IndexFunc(x.Steps, func(s scenario.TraceStep) bool { return s.Action.Kind == scenario.Lose })
	if lost < 0 || amqp.SentIn(x.Steps[lost].Payload).Command.Method != amqp.QueueDelete {
		t.Errorf("the reply of the release's delete is not lost\n%s", drawn(x))
	}
}
