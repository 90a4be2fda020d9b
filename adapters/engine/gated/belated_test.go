package gated_test

import (
	"context"
	"errors"
	"testing"

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
