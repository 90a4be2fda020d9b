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

// counting is a semaphore whose holders consume one queue, as many as another queue has messages. Every slot is called 1. A
// client has an exclusive queue while it counts them and becomes one. more is by how many too many it lets in.
type counting struct {
	url  string
	conn *amqp.Connection
	held *amqp.Channel
	more int
}

// aside does something on a channel of its own, and gives the code with which the broker refuses that, 0 if it does not.
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

// has is what a queue has: messages and consumers; none if it is not there.
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
		_ = c.held.Close() // it may be closed
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

// TestSlotsAlike: of a semaphore whose holders consume one queue the history decides, and which slot is whose is not asked where
// all are called the same. One that lets in one too many is found out by that.
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

// A client takes a message by a connection that dies, and the reply is lost. It takes another message by its next
// connection, and is told of that one, while the broker has not noticed the end of the first connection.
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
