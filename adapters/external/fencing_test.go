package external_test

import (
	"context"
	"strconv"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/scenario"
)

// numbered is held by the exclusive consumer of a queue. While it is, the next number is published to another queue, on the same
// channel, and the last one acknowledged: the last thing that acquiring does has no answer.
type numbered struct{ consuming }

func (m *numbered) Acquire(ctx context.Context, name string) (int, error) {
	ch, _, err := m.consume(m.name(name), m.name(name)+".number")
	if ch == nil {
		return 0, err
	}
	last, found, err := ch.Get(m.name(name)+".number", false)
	if err != nil {
		return 0, err
	}
	number, _ := strconv.Atoi(string(last.Body))
	err = ch.PublishWithContext(ctx, "", m.name(name)+".number", false, false, amqp091.Publishing{DeliveryMode: amqp091.Persistent, Body: strconv.AppendInt(nil, int64(number)+1, 10)})
	if err == nil && found {
		err = last.Ack(false)
	}
	if err != nil {
		return 0, err
	}
	m.held = ch
	return 1, nil
}

// TestLostUnanswered: a channel or connection that ends before the last commands of an acquire, which have no answer, takes with it
// what is told to be held a moment later.
func TestLostUnanswered(t *testing.T) {
	runner := mutexRunner(t, "numbered", func(url string) (inprocess.Lock, error) {
		m := &numbered{consuming{named: named{url: url, name: lockName}}}
		return m, m.open()
	})
	if got, want := runner.Held(), "the consumer of the queue {name}.lock"; got != want {
		t.Errorf("held by %s, expected %s", got, want)
	}
	twice := []scenario.Operation{acquire, {Op: lock.Release}, acquire, {Op: lock.Verify}}
	for _, fault := range [][]scenario.Action{
		{{Kind: scenario.ChannelError, Client: 1}, step(1)}, {{Kind: scenario.Drop, Client: 1}, step(1)}, {{Kind: scenario.Idle, Arg: 31 * 60}},
	} {
		for n := range 16 {
			actions := append(append(steps(1, n), fault...), steps(2, 7)...)
			expectRight(t, carriedOut(t, runner, actions, twice, twice[:1]))
		}
	}
}
