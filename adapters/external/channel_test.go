package external_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
	"github.com/lockproof/lockproof/testdata/targets/golang/semaphores"
)

// TestChannelOfHold: what is held by a channel goes with it, whenever that ends: who asks on that channel whether it is
// still held learns it, and who asks on another does not.
func TestChannelOfHold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		design semaphores.Design
		wrong  bool
	}{
		{"a token", semaphores.Tokens{}, false},
		{"a token, asked for on another channel", semaphores.Tokens{OtherChannel: true}, true},
		{"a consumer", semaphores.Consumers{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			runner, err := external.NewRunner(t.Context(), external.Config{Kind: lock.Semaphore, Starter: inprocess.Starter{
				Name: "semaphore", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
					return semaphores.New(ctx, url, test.design)
				},
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			var found property.Set
			ops := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Verify}, {Op: lock.Verify}}
			for at := uint16(0); at < 14; at++ {
				sc := runner.Playable(scenario.Scenario{
					Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: ops}},
					Faults: []scenario.Fault{{Do: scenario.ChannelError, Client: 1, At: at}},
				})
				x, err := runner.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(err)
				}
				if found |= x.Found; x.Found != 0 && !test.wrong {
					t.Errorf("a channel that ends at %d: %v\n%s", at, x.Violations, drawn(x))
				}
			}
			if test.wrong && !found.Has(property.StaleBeliefEnds) {
				t.Errorf("found %v, expected stale-belief-ends", found.BySeverity())
			}
		})
	}
}

// connectionRunner has each client use a lock by a connection of its own.
func connectionRunner(t *testing.T, kind lock.Kind, of func(*amqp091.Connection) inprocess.Lock) *external.Runner {
	t.Helper()
	runner, err := external.NewRunner(t.Context(), external.Config{Kind: kind, Starter: inprocess.Starter{
		Name: t.Name(), New: func(_ context.Context, url string) (inprocess.Lock, error) {
			conn, err := amqp091.Dial(url)
			if err != nil {
				return nil, err
			}
			return of(conn), nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}

// A channel that is closed under a release whose last command has no answer is known of in the next operation: that this
// fails is no fault of the lock's.
func TestChannelEndsUnread(t *testing.T) {
	runner := connectionRunner(t, lock.Mutex, func(conn *amqp091.Connection) inprocess.Lock { return &announced{conn: conn} })
	for at := uint16(1); at < 10; at++ {
		sc := runner.Playable(scenario.Scenario{
			Locks:   []scenario.Lock{{Name: "jobs"}},
			Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}, {Op: lock.Acquire}, {Op: lock.Acquire}}}},
			Faults:  []scenario.Fault{{Do: scenario.ChannelError, Client: 1, At: at}},
		})
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Found.Has(property.Progress) {
			t.Errorf("a channel that ends at %d: found %v\n%s", at, x.Found.Names(), drawn(x))
		}
	}
}

// announced is a mutex by exclusive queue whose releases are announced to whoever listens. It has one channel as long as
// that does what it is asked.
type announced struct {
	conn *amqp091.Connection
	ch   *amqp091.Channel
}

func (a *announced) try(use func(*amqp091.Channel) error) (err error) {
	if a.ch == nil {
		if a.ch, err = a.conn.Channel(); err != nil {
			return err
		}
	}
	if err = use(a.ch); err != nil {
		a.ch = nil
	}
	return err
}

func (a *announced) Acquire(_ context.Context, name string) (slot int, err error) {
	return 1, a.try(func(ch *amqp091.Channel) error {
		_, err := ch.QueueDeclare(name+".owner", false, false, true, false, nil)
		return err
	})
}

func (a *announced) Release(_ context.Context, name string, _ int) error {
	return a.try(func(ch *amqp091.Channel) error {
		_, err := ch.QueueDelete(name+".owner", false, false, false)
		return errors.Join(err, ch.Publish("amq.topic", "released."+name, false, false, amqp091.Publishing{}))
	})
}

func (a *announced) Verify(context.Context, string, int) (bool, error) { return a.ch != nil, nil }

func (a *announced) Close() error { return a.conn.Close() }

// swallowing is the same, and says of no release that it failed.
type swallowing struct{ announced }

func (a *swallowing) Release(ctx context.Context, name string, slot int) error {
	_ = a.announced.Release(ctx, name, slot)
	return nil
}

// TestChannelTaken: an exclusive queue stays when the channel is closed by which it was declared. RabbitMQ closes none unasked, so a lock
// that cannot be released for that is accused of nothing, whether it says so or not.
func TestChannelTaken(t *testing.T) {
	for name, of := range map[string]func(*amqp091.Connection) inprocess.Lock{
		"says so":      func(conn *amqp091.Connection) inprocess.Lock { return &announced{conn: conn} },
		"says nothing": func(conn *amqp091.Connection) inprocess.Lock { return &swallowing{announced{conn: conn}} },
	} {
		t.Run(name, func(t *testing.T) {
			runner := connectionRunner(t, lock.Mutex, of)
			kept := false
			for at := uint16(1); at < 8; at++ {
				sc := runner.Playable(scenario.Scenario{
					Locks:   []scenario.Lock{{Name: "jobs"}},
					Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Release}}}},
					Faults:  []scenario.Fault{{Do: scenario.ChannelError, Client: 1, At: at}},
				})
				x, err := runner.Run(t.Context(), &sc)
				if err != nil {
					t.Fatal(err)
				}
				expectRight(t, x)
				kept = kept || x.Kept
			}
			if !kept {
				t.Error("nothing is said to have been kept")
			}
		})
	}
}

// endless waits for the answer to its channel's close for ever, as drivers for Node do, whatever becomes of the connection.
type endless struct {
	conn *amqp091.Connection
	over chan struct{}
}

func (m *endless) Acquire(context.Context, string) (int, error) {
	ch, err := m.conn.Channel()
	if err != nil {
		return 0, err
	}
	if ch.Close() != nil {
		<-m.over
	}
	return 0, nil
}

func (m *endless) Verify(context.Context, string, int) (bool, error) { return false, nil }

func (m *endless) Release(context.Context, string, int) error { return nil }

func (m *endless) Close() error {
	close(m.over)
	return m.conn.Close()
}

// TestClosedOfLost: a channel's close is answered although its connection is lost just then: what waits on for that is a driver.
func TestClosedOfLost(t *testing.T) {
	runner := connectionRunner(t, lock.Mutex, func(conn *amqp091.Connection) inprocess.Lock {
		return &endless{conn: conn, over: make(chan struct{})}
	})
	for _, a := range [][]scenario.Action{
		{step(1), {Kind: scenario.Lose, Client: 1}},
		{step(1), {Kind: scenario.Drop, Client: 1}, step(1)},
		{step(1), {Kind: scenario.Restart}, step(1)},
	} {
		x := carriedOut(t, runner, a, []scenario.Operation{acquire})
		if x.Uncontrolled.Hung > 0 {
			t.Errorf("it waits on\n%s", drawn(x))
		}
	}
}

// drowsy reads what the broker says only after it has written something, as a driver does that has no thread for that.
type drowsy struct {
	net.Conn
	mu    sync.Mutex
	awake sync.Cond
	reads bool
}

func (c *drowsy) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.reads {
		c.awake.Wait()
	}
	return n, err
}

func (c *drowsy) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sleep(false)
	return n, err
}

func (c *drowsy) sleep(so bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads = !so
	c.awake.Broadcast()
}

// miscounting is channelToken by a driver that reads so. When the broker and it have closed a channel at the same time, it takes the
// next one for closed.
type miscounting struct {
	channelToken
	socket *drowsy
	lost   bool // count of answers
}

func (m *miscounting) Acquire(ctx context.Context, name string) (int, error) {
	defer m.socket.sleep(true)
	slot, err := m.channelToken.Acquire(ctx, name)
	if m.lost {
		return 0, errors.New("the channel is closed")
	}
	return slot, err
}

func (m *miscounting) Release(context.Context, string, int) error {
	defer m.socket.sleep(true)
	closed := m.ch.NotifyClose(make(chan *amqp091.Error, 1))
	_ = m.ch.Close()
	m.lost = <-closed != nil
	return nil
}

// TestCrossed: a driver that loses count, as the client and the broker close a channel at the same time, is no fault of the lock's,
// nor of that of the next run.
func TestCrossed(t *testing.T) {
	runner := runnerOf(t, lock.PersistentMutex, "miscounting", func(url string) (inprocess.Lock, error) {
		m := new(miscounting)
		conn, err := amqp091.DialConfig(url, amqp091.Config{Dial: func(network, address string) (net.Conn, error) {
			c, err := net.Dial(network, address)
			m.socket = &drowsy{Conn: c, reads: true}
			m.socket.awake.L = &m.socket.mu
			return m.socket, err
		}})
		m.conn = conn
		return m, err
	})
	for n, ops := range [][]scenario.Operation{{acquire, {Op: lock.Release}, acquire}, {acquire}, {acquire}} {
		actions := append(steps(1, 2), scenario.Action{Kind: scenario.Idle, Arg: 31 * 60})
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: ops}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: append(actions, steps(1, 4)...)},
		})
		if err != nil {
			t.Fatal(err)
		}
		expectRight(t, x)
		if lost := len(x.Errors) > 0; lost != (n == 0) {
			t.Errorf("run %d: the driver has lost count: %v\n%s", n, lost, drawn(x))
		}
	}
}

// channelToken is a semaphore of one token, which goes back with the channel that has it.
type channelToken struct {
	conn *amqp091.Connection
	ch   *amqp091.Channel
}

func (s *channelToken) Acquire(_ context.Context, name string) (slot int, err error) {
	if s.ch, err = s.conn.Channel(); err != nil {
		return 0, err
	}
	if _, held, err := s.ch.Get(name+".token", false); err != nil || held {
		return 1, err
	}
	return 0, s.ch.Close()
}

func (s *channelToken) Verify(context.Context, string, int) (bool, error) {
	return s.ch.Qos(1, 0, false) == nil, nil
}

func (s *channelToken) Release(context.Context, string, int) error {
	if s.ch.Qos(1, 0, false) == nil {
		s.ch.Close() // what goes wrong with that is that it is closed
	}
	return nil
}

func (s *channelToken) Create(_ context.Context, name string, _ int) error {
	ch, err := s.conn.Channel()
	if err != nil {
		return err
	}
	_, declared := ch.QueueDeclare(name+".token", true, false, false, false, nil)
	return errors.Join(declared, ch.Publish("", name+".token", false, false, amqp091.Publishing{}), ch.Close())
}

func (s *channelToken) Destroy(_ context.Context, name string) error {
	ch, err := s.conn.Channel()
	if err != nil {
		return err
	}
	_, err = ch.QueueDelete(name+".token", false, false, false)
	return errors.Join(err, ch.Close())
}

func (s *channelToken) Count(context.Context, string) (int, error) { return 1, nil }

func (s *channelToken) Close() error { return s.conn.Close() }

// TestClosedWhileClosing: a channel that the broker closes for a late acknowledgement, while the client's own word that it is
// to be closed waits at the gate, has given back what it had.
func TestClosedWhileClosing(t *testing.T) {
	runner := connectionRunner(t, lock.Semaphore, func(conn *amqp091.Connection) inprocess.Lock { return &channelToken{conn: conn} })
	for at := uint16(0); at < 8; at++ {
		sc := runner.Playable(scenario.Scenario{
			Locks: []scenario.Lock{{Name: "jobs", Slots: 1}}, Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}}},
			Faults: []scenario.Fault{{Do: scenario.Idle, At: at, Arg: 31 * 60}},
		})
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Found != 0 {
			t.Errorf("half an hour at %d: %v\n%s", at, x.Violations, drawn(x))
		}
	}
}

// TestChannelEndIsRead: a client that reads what the broker says while nobody calls it knows that its channel is closed before
// it is called, whenever that happens while it holds the lock: one that fetches the token anew then is found out each time.
func TestChannelEndIsRead(t *testing.T) {
	runner, err := external.NewRunner(t.Context(), external.Config{Kind: lock.Mutex, Starter: inprocess.Starter{
		Name: "mutex", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			return mutexes.New(ctx, url, mutexes.Token{Refetches: true})
		},
	}, Timing: external.Timing{Habit: 2 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	ops := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}, {Op: lock.Verify}, {Op: lock.Verify}}
	for range 3 {
		for at := uint16(5); at < 8; at++ {
			sc := runner.Playable(scenario.Scenario{
				Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: ops}},
				Faults: []scenario.Fault{{Do: scenario.ChannelError, Client: 1, At: at}},
			})
			x, err := runner.Run(t.Context(), &sc)
			if err != nil {
				t.Fatal(err)
			}
			if !x.Found.Has(property.StaleBeliefEnds) {
				t.Errorf("a channel that ends at %d: found %v\n%s", at, x.Found.Names(), drawn(x))
			}
		}
	}
}
