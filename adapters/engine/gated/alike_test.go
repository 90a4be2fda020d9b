package gated_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/internal/enginetest"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// counting is a semaphore without numbered slots; Acquire always returns slot 1. Each holder consumes from the queue
// NAME.holders. The number of messages in NAME.size is the number of permits. An exclusive queue guards counting and
// consuming. more is how many holders too many the lock admits; 0 is correct.
type counting struct {
	url  string
	conn *amqp.Connection
	held *amqp.Channel
	more int
}

// aside sends commands on a new channel. code is the reply code if the broker refuses them with 404 or 405, otherwise
// 0.
func (c *counting) aside(do func(*amqp.Channel) error) (code int, err error) {
	if c.conn == nil || c.conn.IsClosed() {
		c.held = nil
		if c.conn, err = amqp.Dial(c.url); err != nil {
			return 0, err
		}
	}
	ch, err := c.conn.Channel()
	if err != nil {
		return 0, err
	}
	err = do(ch)
	var refused *amqp.Error
	if errors.As(err, &refused) && (refused.Code == amqp.NotFound || refused.Code == amqp.ResourceLocked) {
		return refused.Code, nil
	}
	if err != nil {
		c.conn.Close()
		return 0, err
	}
	return 0, ch.Close()
}

func (c *counting) guarded(name string, do func() error) error {
	code, err := c.aside(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(name+".guard", false, false, true, false, nil)
		return err
	})
	if code != 0 {
		return inprocess.ErrNoEffect
	}
	if err == nil {
		err = do()
	}
	if err != nil {
		return err
	}
	_, err = c.aside(func(ch *amqp.Channel) error {
		_, err := ch.QueueDelete(name+".guard", false, false, false)
		return err
	})
	return err
}

// has returns the numbers of messages and consumers of a queue; both are 0 if the queue does not exist.
func (c *counting) has(queue string) (q amqp.Queue, err error) {
	_, err = c.aside(func(ch *amqp.Channel) (err error) {
		q, err = ch.QueueDeclarePassive(queue, true, false, false, false, nil)
		return err
	})
	return q, err
}

func (c *counting) Acquire(_ context.Context, name string) (slot int, err error) {
	err = c.guarded(name, func() error {
		size, err := c.has(name + ".size")
		if err != nil || size.Messages == 0 {
			return err
		}
		holders, err := c.has(name + ".holders")
		if err != nil || holders.Consumers >= size.Messages+c.more {
			return err
		}
		if c.held, err = c.conn.Channel(); err != nil {
			return err
		}
		_, err = c.held.Consume(name+".holders", "", true, false, false, false, nil)
		if err == nil {
			slot = 1
		}
		return err
	})
	return slot, err
}

func (c *counting) Verify(_ context.Context, name string, _ int) (bool, error) {
	if c.held == nil {
		return false, nil
	}
	_, err := c.held.QueueDeclarePassive(name+".holders", true, false, false, false, nil)
	return err == nil, nil
}

func (c *counting) Release(context.Context, string, int) error {
	if c.held != nil {
		_ = c.held.Close() // the channel may be closed already
	}
	c.held = nil
	return nil
}

func (c *counting) Create(_ context.Context, name string, slots int) error {
	return c.guarded(name, func() error {
		size, err := c.has(name + ".size")
		if err != nil {
			return err
		}
		_, err = c.aside(func(ch *amqp.Channel) error {
			for _, queue := range []string{".holders", ".size"} {
				if _, err := ch.QueueDeclare(name+queue, true, false, false, false, nil); err != nil {
					return err
				}
			}
			if err := ch.Tx(); err != nil {
				return err
			}
			for range slots - size.Messages {
				if err := ch.Publish("", name+".size", false, false, amqp.Publishing{DeliveryMode: amqp.Persistent}); err != nil {
					return err
				}
			}
			return ch.TxCommit()
		})
		return err
	})
}

func (c *counting) Destroy(_ context.Context, name string) error {
	return c.guarded(name, func() error {
		holders, err := c.has(name + ".holders")
		if err == nil && holders.Consumers > 0 {
			return inprocess.ErrNoEffect
		}
		if err == nil {
			_, err = c.aside(func(ch *amqp.Channel) error {
				_, err := ch.QueueDelete(name+".size", false, false, false)
				if err == nil {
					_, err = ch.QueueDelete(name+".holders", false, false, false)
				}
				return err
			})
		}
		return err
	})
}

func (c *counting) Count(_ context.Context, name string) (int, error) {
	size, err := c.has(name + ".size")
	return size.Messages, err
}

func (c *counting) Close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

// TestSlotsAlike checks a semaphore whose slots all have the same number. It is judged by its history, and who holds
// which slot is not judged. A variant that admits one holder too many must violate limit-respected.
func TestSlotsAlike(t *testing.T) {
	t.Parallel()
	for _, more := range []int{0, 1} {
		runner := runnerOf(t, lock.Semaphore, foreign.Timing{}, func(_ context.Context, url string) (inprocess.Lock, error) {
			return &counting{url: url, more: more}, nil
		})
		acquire := scenario.Client{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}}}
		x := play(t, runner, runner.Playable(scenario.Scenario{
			Locks: []scenario.Lock{{Name: "jobs", Slots: 2}}, Clients: []scenario.Client{acquire, acquire, acquire},
			Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2, 3}},
		}))
		if x.Found.Has(property.LimitRespected) != (more > 0) || more == 0 && x.Found&wrong != 0 {
			t.Errorf("more %d: %v", more, x.Violations)
		}
	}
}

// TestPermitOfNextConnection loses a client's connection and reply while a message is being acquired. The client
// acquires another message through a new connection, before the broker notices that the first one is lost. The lock
// must not look wrong.
func TestPermitOfNextConnection(t *testing.T) {
	t.Parallel()
	runner := runnerOf(t, lock.Semaphore, foreign.Timing{}, enginetest.Semaphore(semaphores.Account{Tokens: semaphores.Tokens{Alike: true}}))
	step := scenario.Action{Kind: scenario.Step, Client: 1}
	actions := append(slices.Repeat([]scenario.Action{step}, 4), scenario.Action{Kind: scenario.Lose, Client: 1, Late: true})
	x := play(t, runner, scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs", Slots: 2}},
		Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Acquire}, {Op: lock.Verify}}}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: append(actions, slices.Repeat([]scenario.Action{step}, 8)...)},
	})
	if x.Found&wrong != 0 || len(x.Trace.Steps) < 12 {
		t.Errorf("%v\n%s", x.Violations, enginetest.Drawn(t, x.Trace))
	}
}
