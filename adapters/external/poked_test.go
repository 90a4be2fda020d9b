package external_test

import (
	"context"
	"errors"
	"slices"
	"testing"

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

func (m *called) Acquire(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	if _, err := m.ch.QueueDeclarePassive("line-"+name, true, false, false, false, nil); err != nil {
		return 0, refused(err)
	}
	sent, err := m.ch.Consume("line-"+name, name, false, false, false, false, nil)
	if err == nil {
		err = m.ch.Publish("", "line-"+name, false, false, amqp091.Publishing{})
	}
	if err != nil {
		return 0, err
	}
	var ok bool
	if m.message, ok = <-sent; !ok {
		return 0, nil
	}
	return 1, nil
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
	if err := m.open(); err != nil {
		return 0, err
	}
	if _, err := m.ch.QueueDeclarePassive("line-"+name, true, false, false, false, nil); err != nil {
		return 0, refused(err)
	}
	sent, err := m.ch.Consume("line-"+name, name, false, false, false, false, nil)
	if err == nil {
		err = m.ch.Qos(1, 0, false) // what is there has come when this is answered
	}
	if err != nil {
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
	var came bool
	if m.message, came = <-sent; !came {
		return 0, nil
	}
	return 1, nil
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
