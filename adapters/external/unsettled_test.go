package external_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// marked is a semaphore that is there when the last queue of it is that create declares: until then nobody looks at the others.
type marked struct{ tidy }

func (s *marked) Create(ctx context.Context, name string, slots int) error {
	if err := s.tidy.Create(ctx, name, slots); err != nil {
		return err
	}
	ch, err := s.channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	_, err = ch.QueueDeclare("ready-"+name, true, false, false, false, nil)
	return err
}

func (s *marked) Destroy(ctx context.Context, name string) error {
	ch, err := s.channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	_, err = ch.QueueDelete("ready-"+name, false, false, false)
	return errors.Join(err, s.tidy.Destroy(ctx, name))
}

func (s *marked) Acquire(ctx context.Context, name string) (int, error) {
	ch, err := s.channel()
	if err != nil {
		return 0, err
	}
	if _, err = ch.QueueDeclarePassive("ready-"+name, true, false, false, false, nil); err != nil {
		var closed *amqp091.Error
		if errors.As(err, &closed) && closed.Code == amqp091.NotFound {
			return 0, nil
		}
		return 0, err
	}
	if err := ch.Close(); err != nil {
		return 0, err
	}
	return s.tidy.Acquire(ctx, name)
}

func (s *marked) Count(_ context.Context, name string) (int, error) {
	ch, err := s.channel()
	if err != nil {
		return 0, err
	}
	q, err := ch.QueueDeclarePassive("slots-"+name, true, false, false, false, nil)
	if err == nil {
		_, err = ch.QueueDeclarePassive("ready-"+name, true, false, false, false, nil)
	}
	if gone, ok := errors.AsType[*amqp091.Error](err); ok && gone.Code == amqp091.NotFound {
		return 0, nil
	}
	return q.Messages, errors.Join(err, ch.Close())
}

// TestLeftHalf: what a create or a destroy has left that did not come to its end may count, and may not.
func TestLeftHalf(t *testing.T) {
	runner := semaphoreRunner(t, "marked", func(url string) (inprocess.Lock, error) {
		return &marked{tidy{url: url}}, nil
	})
	for _, op := range []scenario.Operation{{Op: lock.Create, Arg: 1}, {Op: lock.Destroy}} {
		for at := range 8 {
			l := scenario.Lock{Name: "jobs"}
			if op.Op == lock.Destroy {
				l.Slots = 1
			}
			crash := append(steps(2, at), scenario.Action{Kind: scenario.CrashBefore, Client: 2})
			x, err := runner.Run(t.Context(), &scenario.Scenario{
				Locks:    []scenario.Lock{l},
				Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Count}, {Op: lock.Count}}}, {Ops: []scenario.Operation{op}}},
				Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: append(crash, steps(1, 10)...)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if x.Found != 0 {
				t.Errorf("after %d steps of %s: %v\n%s", at, op.Op, x.Violations, drawn(x))
			}
		}
	}
}

// TestUnsettledSlots: what a create has made before it is over is not free for others, nor what one leaves that died.
func TestUnsettledSlots(t *testing.T) {
	runner := semaphoreRunner(t, "marked", func(url string) (inprocess.Lock, error) {
		return &marked{tidy{url: url}}, nil
	})
	for _, dies := range []bool{false, true} {
		for at := range 8 {
			actions := steps(2, at)
			if dies {
				actions = append(actions, scenario.Action{Kind: scenario.CrashBefore, Client: 2})
			}
			actions = append(append(append(actions, steps(1, 6)...), steps(2, 12)...), steps(1, 12)...)
			x, err := runner.Run(t.Context(), &scenario.Scenario{
				Locks:    []scenario.Lock{{Name: "jobs"}},
				Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire, acquire, acquire}}, {Ops: []scenario.Operation{{Op: lock.Create, Arg: 1}}}},
				Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: actions},
			})
			if err != nil {
				t.Fatal(err)
			}
			if x.Found != 0 {
				t.Errorf("after %d steps of create, which dies: %v: %v\n%s", at, dies, x.Violations, drawn(x))
			}
		}
	}
}

// TestMadeAnew: what a create makes again that was there when it began, and was destroyed since, is not free before it is over.
func TestMadeAnew(t *testing.T) {
	runner := semaphoreRunner(t, "marked", func(url string) (inprocess.Lock, error) {
		return &marked{tidy{url: url}}, nil
	})
	for at := range 5 {
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{{Op: lock.Create, Arg: 1}}}, {Ops: []scenario.Operation{{Op: lock.Destroy}}}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(2, 1), steps(3, 12), steps(2, at), steps(1, 6), steps(2, 12))},
		})
		if err != nil {
			t.Fatal(err)
		}
		if x.Found != 0 {
			t.Errorf("after %d steps more of create: %v\n%s", at, x.Violations, drawn(x))
		}
	}
}

// TestUnmade: who acquires while a lock is being destroyed may be told that it is gone before what slots are held by is. A destroy
// that died may have left it so.
func TestUnmade(t *testing.T) {
	runner := semaphoreRunner(t, "marked", func(url string) (inprocess.Lock, error) {
		return &marked{tidy{url: url}}, nil
	})
	for _, dies := range []bool{false, true} {
		for at := range 6 {
			actions := append(steps(2, at), steps(1, 3)...)
			if dies {
				actions = append(append(steps(2, at), scenario.Action{Kind: scenario.CrashBefore, Client: 2}), steps(1, 3)...)
			}
			x, err := runner.Run(t.Context(), &scenario.Scenario{
				Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
				Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{{Op: lock.Destroy}}}},
				Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: append(actions, steps(2, 6)...)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if x.Found != 0 {
				t.Errorf("after %d steps of destroy, which dies: %v: %v\n%s", at, dies, x.Violations, drawn(x))
			}
		}
	}
}
