package external_test

import (
	"context"
	"errors"
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
			}
		})
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
