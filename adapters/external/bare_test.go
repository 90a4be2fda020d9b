package external_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// filling is a semaphore with a queue for each slot. Whoever consumes it alone puts a message there, and holds the slot as long as it
// has that. It is right where nobody has released the slot before.
type filling struct{ tidy }

func (s *filling) Create(_ context.Context, name string, slots int) error {
	ch, err := s.channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	for i := range slots {
		if _, err = ch.QueueDeclare(slotOf(name, i+1), true, false, false, false, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *filling) Destroy(_ context.Context, name string) error {
	ch, err := s.channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	for slot := lock.MaxSlots; slot > 0 && err == nil; slot-- {
		_, err = ch.QueueDelete(slotOf(name, slot), false, false, false)
	}
	return err
}

func slotOf(name string, slot int) string { return fmt.Sprintf("%s.%d", name, slot) }

func (s *filling) Acquire(ctx context.Context, name string) (int, error) {
	for slot := 1; ; slot++ {
		ch, err := s.channel()
		if err != nil {
			return 0, err
		}
		queue := slotOf(name, slot)
		there, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
		if closed, ok := errors.AsType[*amqp091.Error](err); ok && closed.Code == amqp091.NotFound {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if there.Consumers == 0 {
			switch got, err := s.take(ctx, ch, queue); {
			case err != nil:
				return 0, err
			case got:
				s.holds[name] = ch
				return slot, nil
			}
		}
		if err := ch.Close(); err != nil {
			return 0, err
		}
	}
}

// take consumes a queue, and reports whether its message is ours.
func (s *filling) take(ctx context.Context, ch *amqp091.Channel, queue string) (got bool, err error) {
	if err := ch.Confirm(false); err != nil {
		return false, err
	}
	sent, err := ch.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return false, err
	}
	there, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil || there.Consumers > 1 {
		return false, err
	}
	confirmed, err := ch.PublishWithDeferredConfirm("", queue, false, false, amqp091.Publishing{DeliveryMode: 2})
	if err == nil {
		_, err = confirmed.WaitContext(ctx)
	}
	if err != nil {
		return false, err
	}
	_, got = <-sent
	return got, nil
}

// TestBare: where a slot's queue has no message before somebody wants the slot, the slot is there all the same, and free; and who is
// about to put one there may be in others' way.
func TestBare(t *testing.T) {
	runner := semaphoreRunner(t, "filling", func(url string) (inprocess.Lock, error) { return &filling{tidy{url: url}}, nil })
	if said := runner.Design(); said != "a message of the queue {name}.{n}, not acknowledged" {
		t.Fatal(said)
	}
	for before := range 8 {
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{acquire}}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: append(append(steps(1, before), steps(2, 9)...), steps(1, 12)...)},
		})
		if err != nil {
			t.Fatal(err)
		}
		if x.Found != 0 {
			t.Errorf("after %d steps: %v\n%s", before, x.Violations, drawn(x))
		}
	}
}
