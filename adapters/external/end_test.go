package external_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/external/externaltest"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// counted counts how often clients are asked to destroy a lock.
type counted struct {
	externaltest.Machines
	destroyed *atomic.Int32
}

func (s counted) Start(ctx context.Context, number int) (external.Client, error) {
	c, err := s.Machines.Start(ctx, number)
	return countedClient{c, s.destroyed}, err
}

type countedClient struct {
	external.Client
	destroyed *atomic.Int32
}

func (c countedClient) Call(ctx context.Context, op lock.Op, p external.Params) (lock.Result, error) {
	if op == lock.Destroy {
		c.destroyed.Add(1)
	}
	return c.Client.Call(ctx, op, p)
}

// TestDestroyedWhereJudged: a client destroys the lock behind an execution if what that leaves is judged; behind a fault,
// which may leave something, its queues are deleted, and no command is spent on it.
func TestDestroyedWhereJudged(t *testing.T) {
	s := counted{externaltest.Machines{Target: amqplock.References[0], Options: amqplock.DefaultOptions()}, new(atomic.Int32)}
	runner := newRunner(t, amqplock.References[0], func(c *external.Config) { c.Starter = s })
	learning := s.destroyed.Load()
	crash, drop := scenario.Fault{Do: scenario.CrashBefore, Client: 1, At: 2}, scenario.Fault{Do: scenario.Drop, Client: 1, At: 2, Arg: 1}
	for i, faults := range [][]scenario.Fault{nil, {crash}, {drop}, nil} {
		sc := runner.Playable(scenario.Scenario{
			Locks:   []scenario.Lock{{Name: "jobs", Slots: 2}},
			Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}}}, Faults: faults,
		})
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Found != 0 || len(x.Steps) == 0 {
			t.Errorf("execution %d: %d steps, violates %v", i, len(x.Steps), x.Found.Names())
		}
		if got, want := s.destroyed.Load()-learning, []int32{1, 1, 1, 2}[i]; got != want {
			t.Errorf("after execution %d clients were asked %d times to destroy a lock, expected %d", i+1, got, want)
		}
	}
}

// lingering never ends a release behind the loss of its connection.
type lingering struct {
	named
	over chan struct{}
}

func (m *lingering) Release(_ context.Context, name string, _ int) error {
	_, err := m.ch.QueueDelete(m.name(name), false, false, false)
	if err != nil {
		<-m.over
	}
	return err
}

func (m *lingering) Close() error {
	close(m.over)
	return m.named.Close()
}

// TestReleaseLasts: who does not come to an end with what it is to release behind a run, after it has lost its connection, ends no other
// run with that.
func TestReleaseLasts(t *testing.T) {
	runner := timedRunner(t, lock.Mutex, external.Timing{Start: time.Second}, "lingering", func(url string) (inprocess.Lock, error) {
		m := &lingering{named: named{url: url, name: lockName}, over: make(chan struct{})}
		return m, m.open()
	})
	actions := append(steps(1, 3), scenario.Action{Kind: scenario.Drop, Client: 1})
	for hung := 1; hung >= 0; hung-- {
		if x := carriedOut(t, runner, actions[:3+hung], []scenario.Operation{acquire}); x.Uncontrolled.Hung != hung {
			t.Errorf("%d releases do not end, expected %d\n%s", x.Uncontrolled.Hung, hung, drawn(x))
		}
	}
}
