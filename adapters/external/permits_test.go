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
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// resizable is a semaphore whose slots can be added and removed.
type resizable struct{ *semaphores.Client }

func (s resizable) Add(_ context.Context, name string, slots int) error {
	return s.Client.Add(name, slots)
}

func (s resizable) Remove(_ context.Context, name string, slots int) error {
	return s.Client.Remove(name, slots)
}

// TestSparePermit: who releases may put another message in the place of its own, before it acknowledges that, while an administrator is
// at work: the slots are not more for that, and not fewer after it.
func TestSparePermit(t *testing.T) {
	runner := semaphoreRunner(t, "account", func(url string) (inprocess.Lock, error) {
		client, err := semaphores.New(context.Background(), url, semaphores.Account{Tokens: semaphores.Tokens{Alike: true, PublishThenAck: true}})
		return resizable{client}, err
	})
	for _, op := range []lock.Op{lock.Add, lock.Remove} {
		for before := range 24 {
			for between := range 8 {
				actions := append(append(steps(1, before), steps(2, between)...), steps(1, 30)...)
				x, err := runner.Run(t.Context(), &scenario.Scenario{
					Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
					Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire, {Op: lock.Release}}}, {Ops: []scenario.Operation{{Op: op, Arg: 1}}}},
					Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: append(actions, steps(2, 30)...)},
				})
				if err != nil {
					t.Fatal(err)
				}
				expectRight(t, x)
			}
		}
	}
}

// TestPutBackFirst: who releases a slot that is a message with a number may put another in its place before it acknowledges its own.
// The slot is then whoever's who is sent that one.
func TestPutBackFirst(t *testing.T) {
	runner := semaphoreRunner(t, "numbered", func(url string) (inprocess.Lock, error) {
		return semaphores.New(context.Background(), url, semaphores.Tokens{PublishThenAck: true})
	})
	for before := range 16 {
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks: []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients: []scenario.Client{
				{Ops: []scenario.Operation{acquire, {Op: lock.Release}}},
				{Ops: []scenario.Operation{acquire, {Op: lock.Verify}}},
			},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(1, before), steps(2, 16), steps(1, 16))},
		})
		if err != nil {
			t.Fatal(err)
		}
		expectRight(t, x)
	}
}

// TestStalledExpires: what is lost by consumer_timeout is lost for no fault of its holder's also while a reply is on its way to it.
func TestStalledExpires(t *testing.T) {
	runner := semaphoreRunner(t, "alike", func(url string) (inprocess.Lock, error) {
		return semaphores.New(context.Background(), url, semaphores.Tokens{Alike: true})
	})
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs", Slots: 2}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{acquire, {Op: lock.Verify}, {Op: lock.Verify}}}, {Ops: []scenario.Operation{acquire}}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(
			steps(1, 5), []scenario.Action{{Kind: scenario.Stall, Client: 1}}, steps(2, 6),
			[]scenario.Action{{Kind: scenario.Idle, Arg: 1860}, {Kind: scenario.Arrive, Client: 1}}, steps(1, 6))},
	})
	if err != nil {
		t.Fatal(err)
	}
	expectRight(t, x)
}

// rash is a semaphore by messages without numbers, which makes them where it has found no queue: two may find none.
type rash struct{ tidy }

func (s *rash) Create(ctx context.Context, name string, slots int) error {
	ch, err := s.channel()
	if err != nil {
		return err
	}
	if _, err := ch.QueueDeclarePassive("slots-"+name, true, false, false, false, nil); err == nil {
		return ch.Close()
	}
	if ch, err = s.channel(); err != nil {
		return err
	}
	_, err = ch.QueueDeclare("slots-"+name, true, false, false, false, nil)
	for range slots {
		err = errors.Join(err, ch.PublishWithContext(ctx, "", "slots-"+name, false, false, amqp091.Publishing{DeliveryMode: 2, Body: []byte("1")}))
	}
	return errors.Join(err, ch.Close())
}

// Two that create a lock at once make it, and not twice as many slots.
func TestCreateTogether(t *testing.T) {
	runner := semaphoreRunner(t, "rash", func(url string) (inprocess.Lock, error) { return &rash{tidy{url: url}}, nil })
	create := []scenario.Operation{{Op: lock.Create, Arg: 2}}
	for first := range 8 {
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs"}},
			Clients:  []scenario.Client{{Ops: create}, {Ops: create}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(1, first), steps(2, 8), steps(1, 8))},
		})
		if err != nil {
			t.Fatal(err)
		}
		between := first == 2 || first == 3 // it has found no queue, and made none
		if x.Found.Has(property.ContiguousSlots) != between {
			t.Errorf("after %d steps of the other: %v\n%s", first, x.Violations, drawn(x))
		}
	}
}
