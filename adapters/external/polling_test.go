package external_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// polling is a mutex whose clients wait for it by asking again and again, without a pause.
type polling struct{ named }

func (p *polling) AcquireWithin(ctx context.Context, name string, timeout time.Duration) (slot int, err error) {
	for until := time.Now().Add(timeout); slot == 0 && err == nil && time.Now().Before(until); {
		slot, err = p.Acquire(ctx, name)
	}
	return slot, err
}

// TestPolling: who waits for a lock may ask for it as often as it has the time to, and that costs what it costs.
func TestPolling(t *testing.T) {
	runner := mutexRunner(t, "polling", func(url string) (inprocess.Lock, error) {
		p := &polling{named{url: url, name: func(n string) string { return n + ".lock" }}}
		return p, p.open()
	})
	runner.Measure(external.SettleBriefly)
	waiting := scenario.Operation{Op: lock.Acquire, Arg: scenario.Waiting}
	sc := runner.Playable(scenario.Scenario{
		Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{waiting}}},
		Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
		Steps:    20, // the deadline is later
	})
	x, err := runner.Run(t.Context(), &sc)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Steps) != 20 || x.Found.Has(property.Progress) {
		t.Errorf("%d steps, %v\n%s", len(x.Steps), x.Violations, drawn(x))
	}
	sc.Steps = scenario.MostSteps
	if x, err = runner.Run(t.Context(), &sc); err != nil {
		t.Fatal(err)
	}
	if !x.Exercised.Has(property.Progress) || x.Found != 0 {
		t.Errorf("%d steps, %v", len(x.Steps), x.Violations)
	}
}

// TestLastReplyLost: the end of a connection that its client closes comes with the socket's, where the reply is not seen.
func TestLastReplyLost(t *testing.T) {
	runner := mutexRunner(t, "parting", func(url string) (inprocess.Lock, error) {
		l := &parting{named{url: url, name: func(n string) string { return n + ".lock" }}}
		return l, l.open()
	})
	actions := append(steps(1, 5), scenario.Action{Kind: scenario.Lose, Client: 1})
	x := carriedOut(t, runner, append(actions, steps(1, 2)...), []scenario.Operation{acquire, {Op: lock.Release}})
	if last := x.Steps[5].Action; x.Found != 0 || last.Kind != scenario.Step {
		t.Errorf("%v, carried out as %v\n%s", x.Violations, last, drawn(x))
	}
}

// parting is a mutex that is released with the connection.
type parting struct{ named }

func (l *parting) Release(context.Context, string, int) error { return l.conn.Close() }

// watching is a semaphore whose administrators wait for a slot by looking for its holder's queue again and again.
type watching struct{ shelf }

func (w *watching) Wait(_ context.Context, name string, slot int) error {
	for held := true; held; {
		var err error
		if held, err = w.there(w.holder(name, slot)); err != nil {
			return err
		}
	}
	return nil
}

// TestOutwaited: who waits for a slot that somebody holds waits as long as that, however often it asks.
func TestOutwaited(t *testing.T) {
	runner := semaphoreRunner(t, "watching", func(url string) (inprocess.Lock, error) {
		w := &watching{shelf{named: named{url: url}, publishes: true}}
		return w, w.open()
	})
	sc := runner.Playable(scenario.Scenario{
		Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{{Op: lock.Wait, Arg: 1}}}},
		Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
		Steps:    20,
	})
	x, err := runner.Run(t.Context(), &sc)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Steps) != 20 || x.Found.Has(property.Progress) {
		t.Errorf("%d steps, %v\n%s", len(x.Steps), x.Violations, drawn(x))
	}
}
