package external_test

import (
	"context"
	"crypto/md5"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/adapters/orders"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// mutexRunner runs clients of a mutex, each of which is opened with its broker's address.
func mutexRunner(t *testing.T, name string, open func(url string) (inprocess.Lock, error)) *external.Runner {
	t.Helper()
	return runnerOf(t, lock.Mutex, name, open)
}

// semaphoreRunner is the same for semaphores.
func semaphoreRunner(t *testing.T, name string, open func(url string) (inprocess.Lock, error)) *external.Runner {
	t.Helper()
	return runnerOf(t, lock.Semaphore, name, open)
}

func runnerOf(t *testing.T, kind lock.Kind, name string, open func(url string) (inprocess.Lock, error)) *external.Runner {
	t.Helper()
	return timedRunner(t, kind, external.Timing{Slow: time.Hour}, name, open) // a busy machine is no reason to give up
}

// timedRunner is the same for those who wait for clients in other ways.
func timedRunner(t *testing.T, kind lock.Kind, timing external.Timing, name string, open func(url string) (inprocess.Lock, error)) *external.Runner {
	t.Helper()
	runner, err := external.NewRunner(t.Context(), external.Config{Kind: kind, Timing: timing, Starter: inprocess.Starter{
		Name: name, New: func(_ context.Context, url string) (inprocess.Lock, error) { return open(url) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}

// carriedOut is the execution in which clients that call so much of one lock do these actions, as far as they can.
func carriedOut(t *testing.T, runner *external.Runner, actions []scenario.Action, calls ...[]scenario.Operation) *external.Execution {
	t.Helper()
	sc := scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs"}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: actions},
	}
	for _, ops := range calls {
		sc.Clients = append(sc.Clients, scenario.Client{Ops: ops})
	}
	x, err := runner.Run(t.Context(), &sc)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// named is a true mutex whose queue has a name of its author's choice.
type named struct {
	url   string
	name  func(lock string) string
	keeps amqp091.Table // what its queue keeps of messages; nothing by default
	conn  *amqp091.Connection
	ch    *amqp091.Channel
	ret   chan amqp091.Return
	holds string
}

func (m *named) open() (err error) {
	if m.conn == nil || m.conn.IsClosed() {
		m.holds = ""
		if m.conn, err = amqp091.Dial(m.url); err != nil {
			return err
		}
		m.ch = nil
	}
	if m.ch == nil || m.ch.IsClosed() {
		if m.ch, err = m.conn.Channel(); err != nil {
			return err
		}
		m.ret = m.ch.NotifyReturn(make(chan amqp091.Return, 1))
		err = m.ch.Confirm(false)
	}
	return err
}

// kept are the arguments that say what its queues keep of messages: nothing, unless it is told otherwise.
func (m *named) kept() amqp091.Table {
	if m.keeps == nil {
		return amqp091.Table{"x-max-length": int32(0)}
	}
	return m.keeps
}

func (m *named) Acquire(ctx context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	c, err := m.ch.PublishWithDeferredConfirm("", m.name(name), true, false, amqp091.Publishing{})
	if err != nil {
		return 0, err
	}
	if ok, err := c.WaitContext(ctx); err != nil || !ok {
		return 0, fmt.Errorf("probing %s: %v, %w", name, ok, err)
	}
	select {
	case <-m.ret:
	default:
		return 0, nil
	}
	if _, err := m.ch.QueueDeclare(m.name(name), false, false, true, false, m.kept()); err != nil {
		if e, ok := err.(*amqp091.Error); ok && e.Code == amqp091.ResourceLocked {
			return 0, m.open()
		}
		return 0, err
	}
	m.holds = name
	return 1, nil
}

func (m *named) Verify(context.Context, string, int) (bool, error) {
	return m.holds != "" && !m.conn.IsClosed(), nil
}

func (m *named) Release(_ context.Context, name string, _ int) error {
	if m.holds != name {
		return nil
	}
	m.holds = ""
	if err := m.open(); err != nil {
		return err
	}
	_, err := m.ch.QueueDelete(m.name(name), false, false, false)
	return err
}

func (m *named) Close() error { return m.conn.Close() }

// TestNaming: what a lock's queue is called makes no difference to what its executions come to, wherever in it
// the lock's name stands, or if it does not.
func TestNaming(t *testing.T) {
	for name, naming := range map[string]func(string) string{
		"lock's name first": func(n string) string { return n + ".lock" },
		"last":              func(n string) string { return "app.lock." + n },
		"in the middle":     func(n string) string { return "app." + n + ".lock" },
		"not at all":        func(n string) string { return fmt.Sprintf("%x", md5.Sum([]byte(n))) },
		"letters alone":     func(n string) string { return "lock_" + regexp.MustCompile(`[^a-z0-9]`).ReplaceAllString(n, "_") },
		"back to front":     func(n string) string { before, after, _ := strings.Cut(n, "."); return after + "@" + before },
		"a hash of a long name": func(n string) string {
			if len(n) > 12 {
				n = n[:6] + fmt.Sprintf("%x", md5.Sum([]byte(n)))
			}
			return n
		},
	} {
		t.Run(name, func(t *testing.T) {
			runner := mutexRunner(t, "named", func(url string) (inprocess.Lock, error) {
				m := &named{url: url, name: naming}
				return m, m.open()
			})
			source := sim.NewSource(sim.Space{Target: amqplock.References[1]}, 3)
			for i := range 40 {
				sc := runner.Playable(source.Scenario(i))
				sc.Faults = nil
				x, err := runner.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(err)
				}
				if x.Found != 0 {
					t.Fatalf("scenario %d: %v\n%s", i, x.Violations, drawn(x))
				}
			}
			ops := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}
			sc := scenario.Scenario{Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: ops}, {Ops: ops}}}
			e, err := runner.Explore(t.Context(), sc, orders.Options{Runs: 100}, func(*external.Execution) error { return nil })
			if err != nil || e.Incomplete != "" || e.Runs != 10 {
				t.Errorf("%v, %+v", err, e)
			}
		})
	}
}

// TestProbesOfHolder: what others' acquires leave in the queue of a holder goes with it. It is left behind only if it piles
// up there.
func TestProbesOfHolder(t *testing.T) {
	sc := scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs"}},
		Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{acquire, acquire}}},
		Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
	}
	for _, test := range []struct {
		name  string
		keeps amqp091.Table
		left  bool
	}{
		{"one is kept", amqp091.Table{"x-max-length": int32(1)}, false},
		{"each for a while", amqp091.Table{"x-message-ttl": int32(60_000)}, false},
		{"all are kept", amqp091.Table{}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			runner := mutexRunner(t, "named", func(url string) (inprocess.Lock, error) {
				m := &named{url: url, name: func(n string) string { return n + ".lock" }, keeps: test.keeps}
				return m, m.open()
			})
			seen := runner.Playable(sc)
			x, err := runner.Run(t.Context(), &seen)
			if err != nil {
				t.Fatal(err)
			}
			if !x.Exercised.Has(property.NoLeak) || x.Found.Has(property.NoLeak) != test.left || !test.left && x.Found != 0 {
				t.Errorf("found %v\n%s", x.Found.Names(), drawn(x))
			}
		})
	}
}

// serial is a true mutex whose queue has the number of releases in its name.
type serial struct {
	named
	releases map[string]int // of all clients
}

func (m *serial) Release(ctx context.Context, name string, slot int) error {
	err := m.named.Release(ctx, name, slot)
	m.releases[name]++
	return err
}

// TestSerialNames: names with a number that is another one each time are not learnt with the one that a lock's first use shows.
func TestSerialNames(t *testing.T) {
	releases := make(map[string]int)
	runner := mutexRunner(t, "serial", func(url string) (inprocess.Lock, error) {
		return &serial{named{url: url, name: func(n string) string { return fmt.Sprintf("grant/%d/%s", releases[n], n) }}, releases}, nil
	})
	if said := runner.Design(); !strings.Contains(said, "otherwise when it is acquired again") {
		t.Error(said)
	}
}
