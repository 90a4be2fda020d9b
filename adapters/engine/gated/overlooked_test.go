package gated_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// subscribing is a mutex by the message of a queue, which is delivered. Once declines is set it gives the message back and says
// that the lock is taken, after so long.
type subscribing struct {
	conn     *amqp.Connection
	ch       *amqp.Channel
	made     map[string]bool
	declines *atomic.Bool
	after    time.Duration
}

func (c *subscribing) Acquire(_ context.Context, name string) (slot int, err error) {
	if c.ch, err = c.conn.Channel(); err != nil {
		return 0, err
	}
	if !c.made[name] {
		if _, err := c.ch.QueueDeclare(name+".token", true, false, false, false, nil); err != nil {
			return 0, err
		}
		if err := c.ch.Publish("", name+".token", false, false, amqp.Publishing{}); err != nil {
			return 0, err
		}
		c.made[name] = true
	}
	deliveries, err := c.ch.Consume(name+".token", "", false, false, false, false, nil)
	if err != nil {
		return 0, err
	}
	<-deliveries
	if c.declines.Load() {
		time.Sleep(c.after)
		return 0, c.ch.Close()
	}
	return 1, nil
}

func (c *subscribing) Verify(_ context.Context, name string, _ int) (bool, error) {
	_, err := c.ch.QueueDeclarePassive(name+".token", true, false, false, false, nil)
	return err == nil, nil
}

func (c *subscribing) Release(context.Context, string, int) error { return c.ch.Close() }

func (c *subscribing) Close() error { return c.conn.Close() }

// TestDeliveredTooLate: a client that waits for a delivery no longer than so long, by a clock of its own, may not have read it when
// its time is up, on a busy machine. It gives it back and says no, which is not wrong. One that does so at once is found out.
func TestDeliveredTooLate(t *testing.T) {
	for after, wrong := range map[time.Duration]bool{0: true, 25 * time.Millisecond: false} {
		var declines atomic.Bool
		runner := runnerOf(t, lock.Mutex, external.Timing{Slow: time.Hour}, func(_ context.Context, url string) (inprocess.Lock, error) {
			conn, err := amqp.Dial(url)
			return &subscribing{conn: conn, made: make(map[string]bool), declines: &declines, after: after}, err
		})
		sc := scenario.Scenario{
			Locks:   []scenario.Lock{{Name: "jobs"}},
			Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}}}},
		}
		if x := play(t, runner, runner.Playable(sc)); x.Found != 0 {
			t.Errorf("while it declines nothing: %v", x.Violations)
		}
		found := false
		for tries := 0; !found && (tries < 5 || wrong && tries < 100); tries++ { // who is slow for another reason is taken to have waited
			declines.Store(true)
			found = play(t, runner, runner.Playable(sc)).Found.Has(property.Linearizable)
			declines.Store(false)
		}
		if found != wrong {
			t.Errorf("declines after %v: found %v", after, found)
		}
	}
}
