package gated_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// consuming is a mutex by the exclusive consumer of a queue that goes with it. deletes is the bug that releases it by deleting
// the queue, whoever consumes it by then.
type consuming struct {
	conn    *amqp.Connection
	ch      *amqp.Channel // by which it holds
	deletes bool
}

func (c *consuming) Acquire(_ context.Context, name string) (int, error) {
	ch, err := c.conn.Channel()
	if err != nil {
		return 0, err
	}
	if _, err := ch.QueueDeclare(name+".consumed", false, true, false, false, nil); err != nil {
		return 0, err
	}
	deliveries, err := ch.Consume(name+".consumed", "", true, true, false, false, nil)
	var refused *amqp.Error
	if errors.As(err, &refused) && refused.Code == amqp.AccessRefused {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	go func() {
		for range deliveries {
		}
	}()
	c.ch = ch
	return 1, nil
}

func (c *consuming) Verify(_ context.Context, name string, _ int) (bool, error) {
	_, err := c.ch.QueueDeclarePassive(name+".consumed", false, true, false, false, nil)
	return err == nil, nil
}

func (c *consuming) Release(_ context.Context, name string, _ int) error {
	if !c.deletes {
		_ = c.ch.Close() // it may be closed
		return nil
	}
	ch, err := c.conn.Channel()
	if err != nil {
		return err
	}
	if _, err := ch.QueueDelete(name+".consumed", false, false, false); err != nil {
		return err
	}
	return ch.Close()
}

func (c *consuming) Close() error { return c.conn.Close() }

// TestLossBeforeRelease: a client loses what it holds by just before it releases it, and does so when another has the lock. Who
// takes it from that one is found out, in an execution that replays.
func TestLossBeforeRelease(t *testing.T) {
	t.Parallel()
	for _, deletes := range []bool{false, true} {
		runner := runnerOf(t, lock.Mutex, external.Timing{}, func(_ context.Context, url string) (inprocess.Lock, error) {
			conn, err := amqp.Dial(url)
			return &consuming{conn: conn, deletes: deletes}, err
		})
		const a, r = lock.Acquire, lock.Release
		x := play(t, runner, runner.Playable(scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs"}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: a}, {Op: r}, {Op: a}}}, {Ops: []scenario.Operation{{Op: a}}}},
			Faults:   []scenario.Fault{{Do: scenario.ChannelError, Client: 1, At: 1, Late: true}},
			Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
		}))
		again := play(t, runner, sim.Replay(x.Trace))
		if x.Found.Has(property.MutualExclusion) != deletes || again.Found != x.Found || !deletes && x.Found != 0 {
			t.Errorf("deletes %v: %v, replayed %v", deletes, x.Violations, again.Violations)
		}
	}
}

// keeping is a mutex by an exclusive queue that connects again by itself when its connection is gone, after a while. claims is
// the bug that claims what it has held, too, and goes on as if nothing had happened.
type keeping struct {
	url    string
	claims bool

	mu   sync.Mutex
	conn *amqp.Connection
	ch   *amqp.Channel
	held string
}

// connect connects, and sees to it that it is connected again.
func (k *keeping) connect() error {
	conn, err := amqp.Dial(k.url)
	if err != nil {
		return err
	}
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	k.conn, k.ch = conn, ch
	gone := conn.NotifyClose(make(chan *amqp.Error, 1))
	go func() {
		if <-gone == nil { // we have closed it
			return
		}
		time.Sleep(40 * time.Millisecond)
		k.mu.Lock()
		defer k.mu.Unlock()
		_ = k.again() // the next operation says so
	}()
	return nil
}

func (k *keeping) again() error {
	if !k.claims {
		k.held = ""
	}
	if err := k.connect(); err != nil || k.held == "" {
		return err
	}
	return k.claim(k.held)
}

func (k *keeping) claim(name string) error {
	_, err := k.ch.QueueDeclare(name+".kept", false, false, true, false, nil)
	return err
}

// open opens the channel again, if it was closed.
func (k *keeping) open() (err error) {
	if k.ch.IsClosed() {
		k.ch, err = k.conn.Channel()
	}
	return err
}

func (k *keeping) Acquire(_ context.Context, name string) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.open(); err != nil {
		return 0, err
	}
	err := k.claim(name)
	var refused *amqp.Error
	if errors.As(err, &refused) && refused.Code == amqp.ResourceLocked {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	k.held = name
	return 1, nil
}

func (k *keeping) Verify(_ context.Context, name string, _ int) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held != name || k.open() != nil {
		return false, nil
	}
	_, err := k.ch.QueueDeclarePassive(name+".kept", false, false, true, false, nil)
	return err == nil, nil
}

func (k *keeping) Release(_ context.Context, name string, _ int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held != name {
		return nil
	}
	if err := k.open(); err != nil {
		return err
	}
	k.held = ""
	_, err := k.ch.QueueDelete(name+".kept", false, false, false)
	return err
}

func (k *keeping) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.conn.Close()
}

// TestConnectsAgain: a client that is told that its connection is gone, while it is called for nothing, connects again by itself.
// Who claims then what another has had meanwhile, and says that it held it, is found out, in an execution that replays.
func TestConnectsAgain(t *testing.T) {
	t.Parallel()
	for _, claims := range []bool{false, true} {
		runner := runnerOf(t, lock.Mutex, external.Timing{}, func(_ context.Context, url string) (inprocess.Lock, error) {
			k := &keeping{url: url, claims: claims}
			return k, k.connect()
		})
		const a, v, r = lock.Acquire, lock.Verify, lock.Release
		x := play(t, runner, runner.Playable(scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs"}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: a}, {Op: v}}}, {Ops: []scenario.Operation{{Op: a}, {Op: r}}}},
			Faults:   []scenario.Fault{{Do: scenario.Arrive, Client: 1, At: 1, Late: true}},
			Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
		}))
		again := play(t, runner, sim.Replay(x.Trace))
		if x.Found.Has(property.StaleBeliefEnds) != claims || again.Found != x.Found || !claims && x.Found != 0 {
			t.Errorf("claims %v: %v, replayed %v", claims, x.Violations, again.Violations)
		}
	}
}
