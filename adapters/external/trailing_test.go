package external_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/testdata/targets/golang/mutexes"
)

// leaving is a right mutex by an exclusive queue, on a connection for each hold. It releases by closing that connection,
// and answers without waiting until that is closed.
type leaving struct {
	url string
	// closes sees to it that what closes the connection is called, and returns when release is to answer. written
	// is closed when the client has written that it closes the connection.
	closes func(close func() error, written <-chan struct{})
	// declaring is told before the queue is declared, and when that is written; nil is nobody.
	declaring func(written <-chan struct{})
	hold      *amqp091.Connection
	socket    *toldSocket
	tasks     sync.WaitGroup
}

// toldSocket tells when something was written to it.
type toldSocket struct {
	net.Conn
	mu      sync.Mutex
	written chan struct{} // closed at the next write; nil where nobody wants to know
}

func (s *toldSocket) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written != nil {
		close(s.written)
		s.written = nil
	}
	return n, err
}

func (s *toldSocket) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = make(chan struct{})
	return s.written
}

func (m *leaving) Acquire(_ context.Context, name string) (int, error) {
	conn, err := amqp091.DialConfig(m.url, amqp091.Config{Dial: func(network, address string) (net.Conn, error) {
		socket, err := net.Dial(network, address)
		m.socket = &toldSocket{Conn: socket}
		return m.socket, err
	}})
	if err != nil {
		return 0, err
	}
	ch, err := conn.Channel()
	if err == nil {
		if m.declaring != nil {
			m.declaring(m.socket.next())
		}
		_, err = ch.QueueDeclare(name+".lock", false, false, true, false, nil)
	}
	if err == nil {
		m.hold = conn
		return 1, nil
	}
	if e, ok := errors.AsType[*amqp091.Error](err); ok && e.Code == amqp091.ResourceLocked {
		err = nil
	}
	return 0, errors.Join(err, conn.Close())
}

func (m *leaving) Verify(context.Context, string, int) (bool, error) {
	return m.hold != nil && !m.hold.IsClosed(), nil
}

func (m *leaving) Release(context.Context, string, int) error {
	if hold := m.hold; hold != nil {
		m.hold = nil
		m.closes(hold.Close, m.socket.next())
	}
	return nil
}

func (m *leaving) Close() error {
	m.tasks.Wait()
	if m.hold != nil {
		return m.hold.Close()
	}
	return nil
}

// soon waits for a while that is another each time, or not at all.
func soon() {
	if n := rand.IntN(4); n > 0 {
		time.Sleep(time.Duration(n) * time.Millisecond)
	}
}

// nacking is a right mutex by a token, which is given back by a basic.nack: there is no answer to wait for.
type nacking struct{ *mutexes.Mutex }

func (m nacking) Release(ctx context.Context, name string, slot int) error {
	err := m.Mutex.Release(ctx, name, slot)
	soon()
	return err
}

// newLeaving starts clients that close their connections as they like.
func newLeaving(t *testing.T, patience time.Duration, closes func(m *leaving, close func() error, written <-chan struct{})) *external.Runner {
	return newLockRunner(t, patience, func(_ context.Context, url string) (inprocess.Lock, error) {
		m := &leaving{url: url}
		m.closes = func(close func() error, written <-chan struct{}) { closes(m, close, written) }
		return m, nil
	})
}

func newLockRunner(t *testing.T, patience time.Duration, start inprocess.New) *external.Runner {
	t.Helper()
	runner, err := external.NewRunner(t.Context(), external.Config{
		Kind: lock.Mutex, Starter: inprocess.Starter{Name: "leaving", New: start}, Timing: external.Timing{Patience: patience, Slow: time.Hour}, // these clients have no clock
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runner.Close() })
	return runner
}

// compete is a scenario in which two clients use a mutex again and again.
func compete(runner *external.Runner) scenario.Scenario {
	ops := []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}, {Op: lock.Acquire}, {Op: lock.Release}}
	return runner.Playable(scenario.Scenario{
		Locks: []scenario.Lock{{Name: "jobs"}}, Clients: []scenario.Client{{Ops: ops}, {Ops: ops}},
		Schedule: scenario.Schedule{Choices: []uint8{0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1}},
	})
}

// sameAlways demands that a scenario comes to the same each time, which its schedule alone has decided, and violates
// nothing: what is on its way when a release is answered is part of that.
func sameAlways(t *testing.T, runner *external.Runner) {
	t.Helper()
	sc := compete(runner)
	var first string
	for i := range 50 {
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Found != 0 {
			t.Fatalf("execution %d: %v\n%s", i, x.Violations, drawn(x))
		}
		if !x.Uncontrolled.Free() {
			t.Fatalf("execution %d is not controlled: %v\n%s", i, x.Uncontrolled.Words(), drawn(x))
		}
		if i == 0 {
			first = drawn(x)
		} else if got := drawn(x); got != first {
			t.Fatalf("execution %d is another than the first:\n%s\n%s", i, got, first)
		}
	}
}

// patient is how long clients may send nothing that always do send something, however busy the machine is.
const patient = time.Minute

// What a client has written before it answers is at the gate when the schedule chooses what is next, however soon it
// answers.
func TestWrittenBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	t.Run("close", func(t *testing.T) {
		sameAlways(t, newLeaving(t, patient, func(m *leaving, close func() error, written <-chan struct{}) {
			m.tasks.Go(func() { close() })
			<-written
			soon()
		}))
	})
	t.Run("nack", func(t *testing.T) {
		sameAlways(t, newLockRunner(t, patient, func(ctx context.Context, url string) (inprocess.Lock, error) {
			m, err := mutexes.New(ctx, url, mutexes.Token{})
			return nacking{m}, err
		}))
	})
}

// What a client sends by itself once it has answered is waited for, since it was seen to do so before.
func TestSentAfterTheAnswer(t *testing.T) {
	t.Parallel()
	sameAlways(t, newLeaving(t, patient, func(m *leaving, close func() error, _ <-chan struct{}) {
		m.tasks.Go(func() { soon(); close() })
	}))
}

// lazy closes the connection of its last hold when it has the next one, in a thread of its own.
type lazy struct {
	*leaving
	last func() error
}

func (m *lazy) Acquire(ctx context.Context, name string) (int, error) {
	if last := m.last; last != nil {
		m.last = nil
		m.declaring = func(written <-chan struct{}) {
			m.tasks.Go(func() {
				<-written
				last()
			})
		}
	}
	slot, err := m.leaving.Acquire(ctx, name)
	m.declaring = nil
	return slot, err
}

// TestClosedInTheNextOperation: a connection that is closed beside what the next operation does is closed before or
// after that by chance, and the execution does not count as controlled.
func TestClosedInTheNextOperation(t *testing.T) {
	t.Parallel()
	runner := newLockRunner(t, 200*time.Millisecond, func(_ context.Context, url string) (inprocess.Lock, error) {
		m := &lazy{leaving: &leaving{url: url}}
		m.closes = func(close func() error, _ <-chan struct{}) { m.last = close }
		return m, nil
	})
	sc := scenario.Scenario{
		Locks:   []scenario.Lock{{Name: "jobs"}},
		Clients: []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}, {Op: lock.Acquire}}}},
	}
	sc = runner.Playable(sc)
	for range 5 {
		x, err := runner.Run(t.Context(), &sc)
		if err != nil {
			t.Fatal(err)
		}
		if x.Uncontrolled.Free() || x.Uncontrolled.Raced == 0 {
			t.Errorf("uncontrolled: %v\n%s", x.Uncontrolled.Words(), drawn(x))
		}
	}
}
