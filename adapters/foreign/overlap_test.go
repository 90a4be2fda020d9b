package foreign_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// Runs are ended during each of their calls in turn, also during the audit. No client must be called again while its
// operation is under way.
func TestCallsDoNotOverlap(t *testing.T) {
	target := amqplock.References[0]
	source := sim.NewSource(sim.Space{Target: target}, 1)
	for i := range 3 {
		sc := source.Scenario(i)
		n := 1
		for !endsIn(t, target, sc, n) {
			n++
		}
		t.Logf("scenario %d: %d calls", i, n-1)
	}
}

// endsIn runs sc and ends the run during call n. It returns true if the run has fewer calls.
func endsIn(t *testing.T, target *lock.Target, sc scenario.Scenario, n int) bool {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := &endingCalls{end: cancel, left: n}
	runner := newRunner(t, target, func(c *foreign.Config) { c.Starter = endingStarter{c.Starter, calls} })
	sc = runner.Playable(sc)
	calls.armed.Store(true)
	_, err := runner.Run(ctx, &sc)
	if err := runner.Close(); err != nil { // after this no call begins
		t.Error(err)
	}
	if calls.overlapped.Load() {
		t.Errorf("a run that ended during call %d: a client was called again meanwhile", n)
	}
	return err == nil
}

// endingCalls ends a run during a given call. left counts down to it.
type endingCalls struct {
	end        func()
	armed      atomic.Bool // whether the run has begun, so that calls count
	overlapped atomic.Bool

	mu   sync.Mutex
	left int // number of calls left, including the one that ends the run
}

// ends reports whether the run ends during the call that begins now.
func (c *endingCalls) ends() bool {
	if !c.armed.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left--
	return c.left == 0
}

// endingStarter starts clients that count their calls together, in one endingCalls.
type endingStarter struct {
	foreign.Starter
	calls *endingCalls
}

func (s endingStarter) Start(ctx context.Context, number int) (foreign.Client, error) {
	c, err := s.Starter.Start(ctx, number)
	return &endingClient{Client: c, calls: s.calls}, err
}

type endingClient struct {
	foreign.Client
	calls *endingCalls
	ended atomic.Bool // the run ended during a call of this client; that call lasts until its context ends
}

func (c *endingClient) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	if c.ended.Load() {
		c.calls.overlapped.Store(true)
	}
	if c.calls.ends() {
		c.ended.Store(true)
		c.calls.end()
		<-ctx.Done()
		return lock.Result{}, ctx.Err()
	}
	return c.Client.Call(ctx, op, p)
}
