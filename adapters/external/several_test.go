package external_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// paired is a mutex by an exclusive queue on one connection, whose verify also asks on another, which is opened
// first.
type paired struct {
	named
	asking *amqp091.Connection
	asks   *amqp091.Channel
}

func (m *paired) open() (err error) {
	if m.asking == nil || m.asking.IsClosed() {
		if m.asking, err = amqp091.Dial(m.url); err != nil {
			return err
		}
		m.asks = nil
	}
	if m.asks == nil || m.asks.IsClosed() {
		if m.asks, err = m.asking.Channel(); err != nil {
			return err
		}
	}
	return m.named.open()
}

func (m *paired) Acquire(ctx context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	return m.named.Acquire(ctx, name)
}

func (m *paired) Verify(ctx context.Context, name string, slot int) (bool, error) {
	if err := m.asks.Qos(1, 0, false); err != nil {
		return false, err
	}
	if _, err := m.ch.QueueDeclarePassive(m.name(name), false, false, true, false, nil); err != nil {
		if m.conn.IsClosed() {
			return false, nil
		}
		return false, errors.Join(err, m.named.open())
	}
	return m.named.Verify(ctx, name, slot)
}

func (m *paired) Close() error { return errors.Join(m.asking.Close(), m.named.Close()) }

func newPaired(t *testing.T) *external.Runner {
	t.Helper()
	return mutexRunner(t, "paired", func(url string) (inprocess.Lock, error) {
		m := &paired{named: named{url: url, name: func(n string) string { return n + ".lock" }}}
		return m, m.open()
	})
}

// steps is a client that goes on so often.
func steps(client uint8, n int) (all []scenario.Action) {
	for range n {
		all = append(all, scenario.Action{Kind: scenario.Step, Client: client})
	}
	return all
}

// What befalls one connection of a client that has two is no reason to accuse it: a crash is judged when the last one
// has gone, an operation that loses one may fail, and a drop may take one of them.
func TestSeveralConnections(t *testing.T) {
	use := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Release}}
	for _, c := range []struct {
		name    string
		happens []scenario.Action
		first   scenario.ActionKind // what is done, as it was carried out
		arg     uint32
		verify  string // what comes of it, "" where it is not called or that depends
	}{
		{"crash", []scenario.Action{{Kind: scenario.CrashBefore, Client: 1}}, scenario.CrashBefore, 0, ""},
		{"crash that is noticed late", []scenario.Action{
			{Kind: scenario.CrashBefore, Client: 1, Late: true}, {Kind: scenario.Detect, Client: 1},
		}, scenario.CrashBefore, 0, ""},
		{"drop of all", []scenario.Action{{Kind: scenario.Drop, Client: 1}}, scenario.Drop, 0, ""},
		{"drop of the one that holds, and was used last", []scenario.Action{{Kind: scenario.Drop, Client: 1, Arg: 1}}, scenario.Drop, 1, "not held"},
		{"drop of the one that asks", []scenario.Action{{Kind: scenario.Drop, Client: 1, Arg: 2}}, scenario.Drop, 2, "⇒ unknown"},
		{"drop of a third is the first's", []scenario.Action{{Kind: scenario.Drop, Client: 1, Arg: 3}}, scenario.Drop, 1, "not held"},
	} {
		t.Run(c.name, func(t *testing.T) {
			runner := newPaired(t)
			if left := runner.Judgeable() & (1 << property.CrashFrees); left == 0 {
				t.Fatal(runner.Unjudged(property.CrashFrees))
			}
			var actions []scenario.Action
			actions = append(actions, steps(1, 2)...)
			actions = append(actions, c.happens...)
			actions = append(actions, steps(1, 6)...)
			actions = append(actions, steps(2, 12)...)
			x := carriedOut(t, runner, actions, use, use)
			if x.Found != 0 {
				t.Errorf("%v\n%s", x.Violations, drawn(x))
			}
			if said := drawn(x); !strings.Contains(strings.Join(strings.Fields(said), " "), c.verify) {
				t.Errorf("expected %q\n%s", c.verify, said)
			}
			if a := x.Steps[2].Action; a.Kind != c.first || a.Arg != c.arg {
				t.Errorf("carried out as %v with %d", a, a.Arg)
			}
		})
	}
}

// TestPairedHolds: a right mutex with two connections is accused of nothing, whatever happens.
func TestPairedHolds(t *testing.T) {
	runner := newPaired(t)
	source := sim.NewSource(sim.Space{Target: amqplock.References[1]}, 3)
	for i := range 150 {
		sc := runner.Playable(source.Scenario(i))
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Found != 0 {
			t.Fatalf("scenario %d: %v\n%s", i, x.Violations, drawn(x))
		}
	}
}

// reconnecting is a mutex by an exclusive queue whose holder may hold several, all on one connection: with it they go.
type reconnecting struct {
	named
	on   map[string]*amqp091.Connection // by lock held
	says bool                           // releases by an error what it has lost
}

func (m *reconnecting) Several() bool { return true }

func (m *reconnecting) Acquire(ctx context.Context, name string) (slot int, err error) {
	err = m.again(func() (err error) {
		slot, err = m.named.Acquire(ctx, name)
		return err
	})
	if slot > 0 {
		m.on[name] = m.conn
	}
	return slot, err
}

// again does what was cut off once more, on a new connection.
func (m *reconnecting) again(do func() error) error {
	err := do()
	if err != nil && m.conn.IsClosed() {
		err = do()
	}
	return err
}

func (m *reconnecting) Verify(_ context.Context, name string, _ int) (bool, error) {
	return m.on[name] == m.conn && !m.conn.IsClosed(), nil
}

func (m *reconnecting) Release(ctx context.Context, name string, slot int) error {
	held := m.on[name] == m.conn && !m.conn.IsClosed()
	delete(m.on, name)
	switch {
	case !held && m.says:
		return errors.New("the connection was lost")
	case !held:
		return nil
	}
	return m.again(func() error {
		m.holds = name
		return m.named.Release(ctx, name, slot)
	})
}

func (m *reconnecting) Close() error { return m.conn.Close() }

// A hold that went with its connection is verified or released though another lock of the process has opened a new one since,
// and though that was dropped as well: it is not held, a release frees nothing, and is no release of what was not held.
func TestAfterReconnection(t *testing.T) {
	dropped := []scenario.Action{{Kind: scenario.Drop, Client: 2}}
	dropped = append(append(dropped, steps(1, 6)...), scenario.Action{Kind: scenario.Drop, Client: 1})
	lost := append([]scenario.Action{{Kind: scenario.Lose, Client: 1}}, steps(1, 6)...)
	t.Run("released", func(t *testing.T) { afterReconnection(t, lock.Release, false, dropped) })
	t.Run("released by an error", func(t *testing.T) { afterReconnection(t, lock.Release, true, lost) })
	t.Run("verified", func(t *testing.T) { afterReconnection(t, lock.Verify, false, lost) })
}

// afterReconnection has a client call an operation on what it holds after something has happened to its process.
func afterReconnection(t *testing.T, op lock.Op, says bool, happens []scenario.Action) {
	runner := mutexRunner(t, "reconnecting", func(url string) (inprocess.Lock, error) {
		m := &reconnecting{on: make(map[string]*amqp091.Connection), says: says}
		m.named = named{url: url, name: func(n string) string { return n + ".lock" }}
		return m, m.open()
	})
	use := []scenario.Operation{{Op: lock.Acquire}, {Op: op}}
	var actions []scenario.Action
	actions = append(actions, steps(2, 2)...)
	actions = append(actions, happens...)
	actions = append(append(actions, steps(2, 1)...), steps(1, 6)...)
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs"}, {Name: "other"}},
		Clients:  []scenario.Client{{Ops: use}, {Lock: 1, With: 1, Ops: use}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: actions},
	})
	if err != nil {
		t.Fatal(err)
	}
	if x.Found != 0 {
		t.Error(x.Violations)
	}
}

// tidy is a semaphore of numbered messages whose holder has a channel for each that it has got. When it has lost one, it gives up
// all that it has, one after the other, and then its connection.
type tidy struct {
	url   string
	conn  *amqp091.Connection
	holds map[string]*amqp091.Channel
}

func (s *tidy) Several() bool { return true }

func (s *tidy) channel() (_ *amqp091.Channel, err error) {
	if s.conn == nil || s.conn.IsClosed() {
		s.holds = make(map[string]*amqp091.Channel)
		if s.conn, err = amqp091.Dial(s.url); err != nil {
			return nil, err
		}
	}
	return s.conn.Channel()
}

func (s *tidy) Create(ctx context.Context, name string, slots int) error {
	ch, err := s.channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	if err := ch.Confirm(false); err != nil {
		return err
	}
	q, err := ch.QueueDeclare("slots-"+name, true, false, false, false, nil)
	for slot := q.Messages + 1; slot <= slots && err == nil; slot++ {
		var sent *amqp091.DeferredConfirmation
		sent, err = ch.PublishWithDeferredConfirm("", q.Name, false, false, amqp091.Publishing{DeliveryMode: 2, Body: []byte{'0' + byte(slot)}})
		if err == nil {
			_, err = sent.WaitContext(ctx)
		}
	}
	return err
}

func (s *tidy) Destroy(_ context.Context, name string) error {
	ch, err := s.channel()
	if err != nil {
		return err
	}
	defer ch.Close()
	_, err = ch.QueueDelete("slots-"+name, false, false, false)
	return err
}

func (s *tidy) Count(context.Context, string) (int, error) { return 0, errors.New("nobody counts") }

func (s *tidy) Acquire(_ context.Context, name string) (int, error) {
	ch, err := s.channel()
	if err != nil {
		return 0, err
	}
	m, ok, err := ch.Get("slots-"+name, false)
	if err != nil || !ok {
		return 0, errors.Join(err, ch.Close())
	}
	s.holds[name] = ch
	return int(m.Body[0] - '0'), nil
}

func (s *tidy) Verify(_ context.Context, name string, _ int) (bool, error) {
	ch := s.holds[name]
	if ch == nil || s.conn.IsClosed() {
		return false, nil
	}
	if ch.Qos(1, 0, false) == nil {
		return true, nil
	}
	for _, ch := range s.holds {
		ch.Close() // one that is closed already says so
	}
	clear(s.holds)
	s.conn.Close()
	return false, nil
}

func (s *tidy) Release(_ context.Context, name string, _ int) error {
	if ch := s.holds[name]; ch != nil {
		delete(s.holds, name)
		ch.Close()
	}
	return nil
}

func (s *tidy) Close() error { return s.conn.Close() }

// TestTidy: what a process gives up of another lock because a channel of its was closed, it has lost with that, in whatever order
// its driver closes what there is.
func TestTidy(t *testing.T) {
	runner := semaphoreRunner(t, "tidy", func(url string) (inprocess.Lock, error) { return &tidy{url: url}, nil })
	use := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}}
	broken := []scenario.Action{{Kind: scenario.ChannelError, Client: 1}}
	for name, actions := range map[string][]scenario.Action{
		"after both are had": slices.Concat(steps(1, 2), steps(2, 2), broken),
		"before the second":  slices.Concat(steps(1, 2), broken, steps(2, 2)),
	} {
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}, {Name: "other", Slots: 1}},
			Clients:  []scenario.Client{{Ops: use}, {Lock: 1, With: 1, Ops: use}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(actions, steps(1, 6), steps(2, 2))},
		})
		if err != nil {
			t.Fatal(err)
		}
		if x.Found != 0 {
			t.Errorf("%s: %v\n%s", name, x.Violations, drawn(x))
		}
	}
}
