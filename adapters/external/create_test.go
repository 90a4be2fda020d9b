package external_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// lasting is a semaphore that create leaves as it is, where there is one.
type lasting struct{ tidy }

func (s *lasting) Create(ctx context.Context, name string, slots int) error {
	ch, err := s.channel()
	if err != nil {
		return err
	}
	var closed *amqp091.Error
	_, err = ch.QueueDeclarePassive("slots-"+name, true, false, false, false, nil)
	switch {
	case err == nil:
		return ch.Close()
	case errors.As(err, &closed) && closed.Code == amqp091.NotFound:
		return s.tidy.Create(ctx, name, slots)
	}
	return err
}

// TestCreateLeaves: a semaphore is right whose create does nothing to one that is there, however many slots that has.
func TestCreateLeaves(t *testing.T) {
	runner := semaphoreRunner(t, "lasting", func(url string) (inprocess.Lock, error) {
		return &lasting{tidy{url: url}}, nil
	})
	for _, slots := range []int{1, 0} { // it is called where there is none
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs", Slots: uint8(slots)}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Create, Arg: 2}}}, {Ops: []scenario.Operation{acquire}}},
			Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
		})
		if err != nil {
			t.Fatal(err)
		}
		creates := slices.ContainsFunc(x.History.Events, func(e history.Event) bool { return e.F.Op() == lock.Create })
		if x.Found != 0 || creates != (slots == 0) {
			t.Errorf("%d slots: found %v, creates: %v\n%s", slots, x.Violations, creates, drawn(x))
		}
	}
}
