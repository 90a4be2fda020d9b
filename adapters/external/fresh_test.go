package external_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/external/externaltest"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/sim"
)

// interrupting starts clients that end the run when so many calls were made.
type interrupting struct {
	external.Starter
	started int

	mu        sync.Mutex // calls of clients that were replaced may come late
	calls, at int
	stop      context.CancelFunc
}

// interrupt has the run end at the n-th call from now; 0 is not at all.
func (s *interrupting) interrupt(n int, stop context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.at, s.stop = 0, n, stop
}

func (s *interrupting) Start(ctx context.Context, number int) (external.Client, error) {
	s.started++
	c, err := s.Starter.Start(ctx, number)
	return interruptingClient{c, s}, err
}

type interruptingClient struct {
	external.Client
	starter *interrupting
}

func (c interruptingClient) Call(ctx context.Context, op lock.Op, p external.Params) (lock.Result, error) {
	s := c.starter
	s.mu.Lock()
	if s.calls++; s.calls == s.at {
		s.stop()
	}
	s.mu.Unlock()
	return c.Client.Call(ctx, op, p)
}

// TestCutShort: whoever took part in a run that was interrupted takes part in none after it, so that the next run
// comes to what it always comes to.
func TestCutShort(t *testing.T) {
	target := amqplock.References[0]
	starter := &interrupting{Starter: externaltest.Machines{Target: target, Options: amqplock.DefaultOptions()}}
	runner := newRunner(t, target, func(c *external.Config) { c.Starter = starter })
	sc := runner.Playable(sim.NewSource(sim.Space{Target: target}, 7).Scenario(3))
	whole, err := runner.Run(t.Context(), &sc)
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for n := 1; ; n++ {
		ctx, stop := context.WithCancel(t.Context())
		before := starter.started
		starter.interrupt(n, stop)
		_, err := runner.Run(ctx, &sc)
		stop()
		if err == nil { // it was over before
			break
		}
		cut++
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted at call %d: %v", n, err)
		}
		starter.interrupt(0, nil)
		again, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatalf("after an interrupt at call %d: %v", n, err)
		}
		if starter.started < before+len(sc.Clients)+1 {
			t.Errorf("interrupted at call %d: %d clients were replaced, expected %d", n, starter.started-before, len(sc.Clients)+1)
		}
		if got, want := drawn(again), drawn(whole); got != want {
			t.Fatalf("after an interrupt at call %d:\n%s\nexpected\n%s", n, got, want)
		}
	}
	t.Logf("interrupted at %d calls, %d clients started", cut, starter.started)
	if cut == 0 {
		t.Error("the run was never interrupted")
	}
}

// TestRenew: what new clients do is what the first ones did, under the same names.
func TestRenew(t *testing.T) {
	target := amqplock.References[0]
	runner := newRunner(t, target, nil)
	sc := runner.Playable(sim.NewSource(sim.Space{Target: target}, 7).Scenario(5))
	first, err := runner.Run(t.Context(), &sc)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := runner.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		again, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := drawn(again), drawn(first); got != want {
			t.Fatalf("new clients came to\n%s\nexpected\n%s", got, want)
		}
	}
}
