package external_test

import (
	"context"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// watchdog is a mutex by an exclusive queue whose holder asks every so often, on a channel of its own, whether that is there.
type watchdog struct {
	named
	every time.Duration
	stop  context.CancelFunc
	over  chan struct{}
}

func (w *watchdog) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := w.named.Acquire(ctx, name)
	if slot > 0 {
		err = w.watch(name)
	}
	return slot, err
}

func (w *watchdog) watch(name string) error {
	ch, err := w.conn.Channel()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop, w.over = stop, make(chan struct{})
	go func() {
		defer close(w.over)
		defer ch.Close()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(w.every):
			}
			if _, err := ch.QueueDeclarePassive(w.name(name), false, false, true, false, amqp091.Table{"x-max-length": int32(0)}); err != nil {
				return
			}
		}
	}()
	return nil
}

func (w *watchdog) Release(ctx context.Context, name string, slot int) error {
	w.rest()
	return w.named.Release(ctx, name, slot)
}

// rest ends the goroutine.
func (w *watchdog) rest() {
	if w.stop != nil {
		w.stop()
		<-w.over
		w.stop = nil
	}
}

func (w *watchdog) Close() error {
	err := w.named.Close()
	w.rest()
	return err
}

// TestWatchdog: a client that sends commands again and again, without being called, keeps nobody from going on, and is not waited
// for.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{time.Millisecond, 40 * time.Millisecond, 400 * time.Millisecond} {
		t.Run(every.String(), func(t *testing.T) {
			t.Parallel()
			runner, err := external.NewRunner(t.Context(), external.Config{Kind: lock.Mutex, Starter: inprocess.Starter{
				Name: "watchdog", New: func(_ context.Context, url string) (inprocess.Lock, error) {
					w := &watchdog{named: named{url: url, name: func(n string) string { return n + ".lock" }}, every: every}
					return w, w.open()
				},
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			run := func(sc scenario.Scenario) *external.Execution {
				sc = runner.Playable(sc)
				sc.Faults = nil
				x, err := runner.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(err)
				}
				if x.Found != 0 {
					t.Errorf("%v\n%s", x.Violations, drawn(x))
				}
				return x
			}
			source := sim.NewSource(sim.Space{Target: amqplock.References[1]}, 3)
			for i := range 10 {
				run(source.External(i, 0))
			}
			use := []scenario.Operation{acquire, {Op: lock.Verify}, {Op: lock.Verify}}
			x := run(scenario.Scenario{ // the holder comes first, from when another has begun
				Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: use}, {Ops: use}},
				Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{2, 1}, Changes: []uint16{2}},
			})
			if n := len(x.Steps); n > 60 {
				t.Errorf("%d steps", n)
			}
		})
	}
}

// looking is a semaphore whose holder looks for its queue again and again, from when it has got a slot.
type looking struct{ tidy }

func (l *looking) Acquire(ctx context.Context, name string) (int, error) {
	slot, err := l.tidy.Acquire(ctx, name)
	if slot == 0 || err != nil {
		return slot, err
	}
	ch, err := l.conn.Channel()
	go func() {
		for err == nil {
			_, err = ch.QueueDeclarePassive("slots-"+name, true, false, false, false, nil)
		}
	}()
	return slot, nil
}

// A client is told that it holds a slot when it is, whatever it sends by itself then.
func TestToldAtOnce(t *testing.T) {
	runner := semaphoreRunner(t, "looking", func(url string) (inprocess.Lock, error) { return &looking{tidy{url: url}}, nil })
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: []scenario.Operation{acquire}}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: steps(1, 8)},
	})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for i, s := range x.Steps {
		for _, e := range x.History.Events[s.First : s.First+s.Events] {
			if e.Type == history.OK {
				told = i + 1
			}
		}
	}
	if told != 3 { // channel.open, get, channel.open
		t.Errorf("told at step %d\n%s", told, drawn(x))
	}
}
