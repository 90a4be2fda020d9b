package gated_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// transient is a mutex by the message of a queue that a restart removes. Who acquires it first makes it. remembers is the bug
// that takes it to be there from then on: who misses it says that the lock is taken.
type transient struct {
	url       string
	conn      *amqp.Connection
	ch        *amqp.Channel
	tag       uint64
	made      map[string]bool
	remembers bool
}

func (c *transient) Acquire(_ context.Context, name string) (slot int, err error) {
	if c.conn == nil || c.conn.IsClosed() {
		if c.conn, err = amqp.Dial(c.url); err != nil {
			return 0, err
		}
	}
	for range 2 {
		if c.ch, err = c.conn.Channel(); err != nil {
			return 0, err
		}
		if err := c.make(name); err != nil {
			return 0, err
		}
		d, ok, err := c.ch.Get(name+".token", false)
		var gone *amqp.Error
		switch c.tag = d.DeliveryTag; {
		case errors.As(err, &gone) && gone.Code == amqp.NotFound && !c.remembers:
			c.made[name] = false
			continue
		case errors.As(err, &gone) && gone.Code == amqp.NotFound:
			return 0, nil
		case err != nil:
			return 0, err
		case ok:
			return 1, nil
		}
		return 0, c.ch.Close()
	}
	return 0, errors.New("it went twice")
}

// make makes the queue and its message, as long as nobody else does.
func (c *transient) make(name string) error {
	if c.made[name] {
		return nil
	}
	if _, err := c.ch.QueueDeclare(name+".token", false, false, false, false, nil); err != nil {
		return err
	}
	if err := c.ch.Confirm(false); err != nil {
		return err
	}
	sent, err := c.ch.PublishWithDeferredConfirm("", name+".token", false, false, amqp.Publishing{})
	if err != nil {
		return err
	}
	sent.Wait()
	c.made[name] = true
	return nil
}

func (c *transient) Verify(_ context.Context, name string, _ int) (bool, error) {
	_, err := c.ch.QueueDeclarePassive(name+".token", false, false, false, false, nil)
	return err == nil, nil
}

func (c *transient) Release(context.Context, string, int) error { return c.ch.Close() }

func (c *transient) Close() error { return c.conn.Close() }

// TestNeverMade: a client is told that a lock is taken that nobody has, because it went with a restart and nobody makes it again.
// An acquire without an answer hides that in the history.
func TestNeverMade(t *testing.T) {
	t.Parallel()
	for _, remembers := range []bool{false, true} {
		runner := runnerOf(t, lock.Mutex, external.Timing{}, func(_ context.Context, url string) (inprocess.Lock, error) {
			return &transient{url: url, made: make(map[string]bool), remembers: remembers}, nil
		})
		var all []scenario.Operation
		for _, op := range []lock.Op{lock.Acquire, lock.Release, lock.Acquire, lock.Acquire, lock.Acquire, lock.Acquire} {
			all = append(all, scenario.Operation{Op: op})
		}
		x := play(t, runner, runner.Playable(scenario.Scenario{
			Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: all}}, Faults: []scenario.Fault{{Do: scenario.Restart, At: 7}},
		}))
		again := play(t, runner, sim.Replay(x.Trace))
		if x.Found.Has(property.Progress) != remembers || again.Found != x.Found || !remembers && x.Found != 0 {
			t.Errorf("remembers %v: %v, replayed %v\n%s", remembers, x.Violations, again.Violations, told(x))
		}
	}
}

// fetched is a persistent mutex by one message. Whoever acquires one that was never created is given the driver's error, or, if
// it asks, told no.
type fetched struct {
	conn *amqp.Connection
	ch   *amqp.Channel
	asks bool
}

func (c *fetched) channel() (err error) {
	if c.ch == nil || c.ch.IsClosed() {
		c.ch, err = c.conn.Channel()
	}
	return err
}

func (c *fetched) Create(_ context.Context, name string, _ int) error {
	if err := c.channel(); err != nil {
		return err
	}
	q, err := c.ch.QueueDeclare(name, true, false, false, false, nil)
	if err != nil || q.Messages > 0 {
		return err
	}
	return c.ch.Publish("", name, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent})
}

func (c *fetched) Destroy(_ context.Context, name string) error {
	_, err := c.ch.QueueDelete(name, false, false, false)
	return err
}

func (c *fetched) Count(context.Context, string) (int, error) {
	return 0, errors.New("it is not counted")
}

func (c *fetched) Acquire(_ context.Context, name string) (int, error) {
	if err := c.channel(); err != nil {
		return 0, err
	}
	_, ok, err := c.ch.Get(name, false)
	var gone *amqp.Error
	switch {
	case c.asks && errors.As(err, &gone) && gone.Code == amqp.NotFound:
		return 0, nil
	case err != nil || !ok:
		return 0, err
	}
	return 1, nil
}

func (c *fetched) Verify(context.Context, string, int) (bool, error) { return !c.ch.IsClosed(), nil }

func (c *fetched) Release(context.Context, string, int) error { return c.ch.Close() }

func (c *fetched) Close() error { return c.conn.Close() }

// TestNeverCreated: a client that fails to acquire a lock which was never created is told what it has to answer.
func TestNeverCreated(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{false, true} {
		runner := runnerOf(t, lock.PersistentMutex, external.Timing{}, func(_ context.Context, url string) (inprocess.Lock, error) {
			conn, err := amqp.Dial(url)
			return &fetched{conn: conn, asks: asks}, err
		})
		x := play(t, runner, runner.Playable(scenario.Scenario{
			Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}}}},
		}))
		v, found := x.Violation(property.Progress)
		if found == asks || found && !strings.Contains(v.Detail, `never created: acquire has to answer {"held":false}`) {
			t.Errorf("asks %v: %+v\n%s", asks, v, told(x))
		}
	}
}
