package external_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// indebted may take no message away for a slot that is removed: those who are given one are to see elsewhere whether it counts.
type indebted struct {
	*semaphores.Client
	owes bool
}

func (c indebted) Add(_ context.Context, name string, slots int) error {
	return c.Client.Add(name, slots)
}

func (c indebted) Remove(_ context.Context, name string, slots int) error {
	if c.owes {
		return nil
	}
	return c.Client.Remove(name, slots)
}

// TestDebts: where a slot less is no message less, slots are not counted by messages.
func TestDebts(t *testing.T) {
	for _, owes := range []bool{false, true} {
		runner := semaphoreRunner(t, "debts", func(url string) (inprocess.Lock, error) {
			c, err := semaphores.New(t.Context(), url, semaphores.Account{Tokens: semaphores.Tokens{Alike: true}})
			return indebted{c, owes}, err
		})
		if why := runner.Unjudged(property.ContiguousSlots); strings.Contains(why, "took 0 away") != owes || why == "" && owes {
			t.Errorf("owes %v: %q", owes, why)
		}
	}
}

// housed is a semaphore whose slots are there by queues of their own, beside those that holders consume and that stay.
type housed struct {
	*semaphores.Client
	url string
}

// on does something on a channel of its own.
func (m housed) on(do func(*amqp.Channel) error) error {
	conn, err := amqp.Dial(m.url)
	if err != nil {
		return err
	}
	ch, err := conn.Channel()
	if err == nil {
		err = do(ch)
	}
	return errors.Join(err, conn.Close())
}

func (m housed) Create(ctx context.Context, name string, slots int) error {
	err := m.Client.Create(ctx, name, slots)
	return errors.Join(err, m.on(func(ch *amqp.Channel) error {
		for slot := range slots {
			if _, err := ch.QueueDeclare(fmt.Sprintf("%s.is-there.%d", name, slot+1), true, false, false, false, nil); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (m housed) Add(context.Context, string, int) error { return semaphores.ErrBusy }

func (m housed) Remove(_ context.Context, name string, slots int) error {
	return m.on(func(ch *amqp.Channel) error {
		_, err := ch.QueueDelete(fmt.Sprintf("%s.is-there.%d", name, slots+1), false, false, false)
		return err
	})
}

// TestHoldersQueuesStay: a queue that holders consume is not taken for the slot where removing the slot leaves it there.
func TestHoldersQueuesStay(t *testing.T) {
	runner := semaphoreRunner(t, "housed", func(url string) (inprocess.Lock, error) {
		c, err := semaphores.New(t.Context(), url, semaphores.Consumers{})
		return housed{c, url}, err
	})
	if why := runner.Unjudged(property.ContiguousSlots); !strings.Contains(why, "leaves it there and deletes") {
		t.Error(why)
	}
}
