package external_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// poked is a mutex by the single active consumer of a queue: whoever is sent a message is that one, and everybody puts one there first.
type poked struct {
	url     string
	conn    *amqp091.Connection
	ch      *amqp091.Channel
	message amqp091.Delivery
}

func (m *poked) Acquire(_ context.Context, name string) (slot int, err error) {
	if m.conn == nil {
		if m.conn, err = amqp091.Dial(m.url); err != nil {
			return 0, err
		}
	}
	if m.ch, err = m.conn.Channel(); err != nil {
		return 0, err
	}
	if err = m.ch.Qos(1, 0, false); err != nil {
		return 0, err
	}
	line := amqp091.Table{"x-single-active-consumer": true, "x-max-length": int32(1)}
	if _, err = m.ch.QueueDeclare("line-"+name, false, false, false, false, line); err != nil {
		return 0, err
	}
	if err = m.ch.Publish("", "line-"+name, false, false, amqp091.Publishing{}); err != nil {
		return 0, err
	}
	sent, err := m.ch.Consume("line-"+name, name, false, false, false, false, nil)
	if err != nil {
		return 0, err
	}
	var ok bool
	if m.message, ok = <-sent; !ok { // the broker has cancelled it, or the channel is gone
		return 0, nil
	}
	return 1, nil
}

func (m *poked) Verify(context.Context, string, int) (bool, error) { return !m.ch.IsClosed(), nil }

func (m *poked) Release(_ context.Context, name string, _ int) error {
	if err := m.ch.Cancel(name, false); err != nil {
		return err
	}
	if err := m.message.Nack(false, true); err != nil {
		return err
	}
	_, err := m.ch.QueueDeclarePassive("line-"+name, false, false, false, false, nil)
	return err
}

func (m *poked) Close() error { return m.conn.Close() }

// pinged is a mutex by the single active consumer of a queue that goes with the last one: everybody consumes it, puts a message there,
// and has the lock if it is sent one. What others delete before it consumes the queue, it makes again.
type pinged struct{ poked }

var errCancelled = errors.New("the consumer was cancelled")

func (m *pinged) Acquire(_ context.Context, name string) (slot int, err error) {
	for range 3 {
		if m.ch, err = m.conn.Channel(); err != nil {
			return 0, err
		}
		slot, err = m.ping(name)
		if e, ok := errors.AsType[*amqp091.Error](err); !ok || e.Code != amqp091.NotFound {
			break
		}
	}
	return slot, err
}

func (m *pinged) ping(name string) (int, error) {
	if err := m.ch.Qos(1, 0, false); err != nil {
		return 0, err
	}
	line := amqp091.Table{"x-single-active-consumer": true, "x-max-length": int32(1)}
	if _, err := m.ch.QueueDeclare("line-"+name, false, true, false, false, line); err != nil {
		return 0, err
	}
	cancelled := m.ch.NotifyCancel(make(chan string, 1))
	sent, err := m.ch.Consume("line-"+name, name, false, false, false, false, nil)
	if err != nil {
		return 0, err
	}
	err = m.ch.Publish("", "line-"+name, false, false, amqp091.Publishing{})
	if err == nil { // what was sent to it before has come when this is answered
		_, err = m.ch.QueueDeclarePassive("line-"+name, false, true, false, false, nil)
	}
	select {
	case <-cancelled:
		return 0, errors.Join(errCancelled, m.ch.Close())
	case m.message = <-sent:
		return 1, err
	case <-time.After(20 * time.Millisecond):
		return 0, errors.Join(err, m.ch.Close())
	}
}

func (m *pinged) Release(_ context.Context, name string, _ int) error {
	if err := m.ch.Cancel(name, false); err != nil {
		return err
	}
	return errors.Join(m.message.Ack(false), m.ch.Close())
}

// TestPinged: an acquire fails for no fault of the lock's when its consumer is cancelled since the queue has ended behind a cancel, as
// it does before RabbitMQ 3.12, although another's leaving has taken the queue away before it consumed it.
func TestPinged(t *testing.T) {
	runner := mutexRunner(t, "pinged", func(url string) (inprocess.Lock, error) {
		conn, err := amqp091.Dial(url)
		return &pinged{poked{url: url, conn: conn}}, err
	})
	actions := slices.Concat(
		steps(3, 3), steps(1, 9), steps(3, 4), // the first has released it, and the queue is gone
		steps(2, 6), steps(3, 2), steps(1, 4), steps(2, 1), // another has it, and leaves
		steps(1, 1), steps(3, 3),
	)
	ops := [][]scenario.Operation{{acquire, {Op: lock.Release}, acquire}, {acquire, {Op: lock.Release}}, {acquire}}
	x := carriedOut(t, runner, actions, ops...)
	expectRight(t, x)
	if len(x.Errors) == 0 {
		t.Errorf("no consumer was cancelled\n%s", drawn(x))
	}
}

// called is the same as a persistent mutex, which is there as long as its queue, with a message or without.
type called struct{ poked }

func (m *called) open() (err error) {
	if m.conn == nil || m.conn.IsClosed() {
		m.conn, err = amqp091.Dial(m.url)
	}
	if err == nil {
		m.ch, err = m.conn.Channel()
	}
	return err
}

func (m *called) Create(_ context.Context, name string, _ int) error {
	if err := m.open(); err != nil {
		return err
	}
	_, err := m.ch.QueueDeclare("line-"+name, true, false, false, false, amqp091.Table{"x-single-active-consumer": true, "x-max-length": int32(1)})
	return errors.Join(err, m.ch.Close())
}

func (m *called) Destroy(_ context.Context, name string) error {
	if err := m.open(); err != nil {
		return err
	}
	_, err := m.ch.QueueDelete("line-"+name, false, false, false)
	return errors.Join(err, m.ch.Close())
}

func (m *called) Count(context.Context, string) (int, error) { return 0, errors.New("nobody counts") }

// join consumes the lock's queue; nil is that there is none.
func (m *called) join(name string) (sent <-chan amqp091.Delivery, err error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	if _, err := m.ch.QueueDeclarePassive("line-"+name, true, false, false, false, nil); err != nil {
		return nil, refused(err)
	}
	return m.ch.Consume("line-"+name, name, false, false, false, false, nil)
}

// sentTo takes the message that it is sent, and holds the lock by that, if it is sent one.
func (m *called) sentTo(sent <-chan amqp091.Delivery) (slot int, err error) {
	var ok bool
	if m.message, ok = <-sent; ok {
		slot = 1
	}
	return slot, nil
}

func (m *called) Acquire(_ context.Context, name string) (int, error) {
	sent, err := m.join(name)
	if sent == nil || err != nil {
		return 0, err
	}
	if err := m.ch.Publish("", "line-"+name, false, false, amqp091.Publishing{}); err != nil {
		return 0, err
	}
	return m.sentTo(sent)
}

// TestCalled: a lock is there as long as a queue that has no message before somebody wants it, nor behind a restart.
func TestCalled(t *testing.T) {
	runner := runnerOf(t, lock.PersistentMutex, "called", func(url string) (inprocess.Lock, error) { return &called{poked{url: url}}, nil })
	for _, actions := range [][]scenario.Action{
		slices.Concat(steps(1, 8), steps(2, 8)),
		slices.Concat(steps(1, 4), []scenario.Action{{Kind: scenario.Restart}}, steps(2, 8)),
	} {
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire, {Op: lock.Release}}}, {Ops: []scenario.Operation{acquire}}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: actions},
		})
		if err != nil {
			t.Fatal(err)
		}
		expectRight(t, x)
	}
}

// knocked is poked by all who want it at once, twice: what the holder is sent besides, it acknowledges, which has no answer.
type knocked struct{ poked }

func (m *knocked) Acquire(_ context.Context, name string) (slot int, err error) {
	if m.conn == nil {
		if m.conn, err = amqp091.Dial(m.url); err != nil {
			return 0, err
		}
	}
	if m.ch, err = m.conn.Channel(); err != nil {
		return 0, err
	}
	line := amqp091.Table{"x-single-active-consumer": true}
	if _, err = m.ch.QueueDeclare("line-"+name, false, true, false, false, line); err != nil {
		return 0, err
	}
	sent, err := m.ch.Consume("line-"+name, name, false, false, false, false, nil)
	for range 3 {
		if err == nil {
			err = m.ch.Publish("", "line-"+name, false, false, amqp091.Publishing{})
		}
	}
	for n := range 3 {
		d, ok := <-sent
		if !ok {
			return 0, errors.New("the channel is gone")
		}
		if n > 0 && err == nil {
			err = d.Ack(false)
		}
	}
	return 1, err
}

func (m *knocked) Release(context.Context, string, int) error { return m.ch.Close() }

// TestKnocked: what is lost by its holder's consumer_timeout, and goes to the next in line, before the last that its acquire has
// sent has reached the broker, is not held by both.
func TestKnocked(t *testing.T) {
	t.Parallel() // clients are waited for that wait for a message
	runner := mutexRunner(t, "knocked", func(url string) (inprocess.Lock, error) { return &knocked{poked{url: url}}, nil })
	for n := 6; n < 9; n++ {
		actions := slices.Concat(steps(1, n), steps(2, 6), []scenario.Action{{Kind: scenario.Idle, Arg: 1860}})
		expectRight(t, carriedOut(t, runner, actions, []scenario.Operation{acquire}, []scenario.Operation{acquire}))
	}
}

// TestPoked: a mutex is not lost with a message that whoever wants it puts there anew, when a queue ends behind a
// cancel as it does before RabbitMQ 3.12 (broker.Options.SuccessorServed).
func TestPoked(t *testing.T) {
	t.Parallel() // clients are waited for that wait for a message
	runner := mutexRunner(t, "poked", func(url string) (inprocess.Lock, error) { return &poked{url: url}, nil })
	actions := slices.Concat(steps(1, 5), steps(2, 5), steps(3, 3), steps(1, 1), steps(3, 1), steps(1, 2))
	x := carriedOut(t, runner, actions, []scenario.Operation{acquire, {Op: lock.Release}}, []scenario.Operation{acquire}, []scenario.Operation{acquire})
	if x.Found.Has(property.EffectiveRelease) {
		t.Errorf("%v\n%s", x.Violations, drawn(x))
	}
}

// turned is a mutex by a token that the single active consumer of its queue is sent. Who is sent none at once is out of the line
// again, unless it comes just then: it holds the lock as well, though it consumes nothing any more.
type turned struct{ called }

func (m *turned) Create(ctx context.Context, name string, slots int) error {
	if err := m.called.Create(ctx, name, slots); err != nil {
		return err
	}
	if err := m.open(); err != nil {
		return err
	}
	return errors.Join(m.ch.Publish("", "line-"+name, false, false, amqp091.Publishing{}), m.ch.Close())
}

func (m *turned) Acquire(_ context.Context, name string) (int, error) {
	sent, err := m.join(name)
	if sent == nil || err != nil {
		return 0, err
	}
	if err := m.ch.Qos(1, 0, false); err != nil { // what is there has come when this is answered
		return 0, err
	}
	select {
	case m.message = <-sent:
		return 1, nil
	default:
	}
	if err := m.ch.Cancel(name, false); err != nil {
		return 0, err
	}
	return m.sentTo(sent)
}

// TestTurned: of a token that was there, whoever is sent it holds the lock, also when it does not consume any more.
func TestTurned(t *testing.T) {
	runner := runnerOf(t, lock.PersistentMutex, "turned", func(url string) (inprocess.Lock, error) { return &turned{called{poked{url: url}}}, nil })
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire, {Op: lock.Release}}}, {Ops: []scenario.Operation{acquire, {Op: lock.Verify}, {Op: lock.Release}}}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(1, 5), steps(2, 4), steps(1, 2), steps(2, 8))},
	})
	if err != nil {
		t.Fatal(err)
	}
	expectRight(t, x)
}
