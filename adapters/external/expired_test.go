package external_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// listed is a mutex that lists whoever comes, in a queue that goes when nobody uses it for a second; or that nobody ever makes.
type listed struct {
	named
	makes bool
}

func (m *listed) Acquire(ctx context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	list := "list-" + name
	if m.makes {
		if _, err := m.ch.QueueDeclare(list, false, false, false, false, amqp091.Table{"x-expires": int32(1000)}); err != nil {
			return 0, err
		}
	} else if err := m.ch.Qos(1, 0, false); err != nil {
		return 0, err
	}
	if err := m.ch.QueueBind(list, "", "amq.direct", false, nil); err != nil && (m.makes || strings.HasSuffix(name, "jobs")) {
		return 0, err
	}
	return m.named.Acquire(ctx, name)
}

// lent is a mutex by a queue that goes unless it is declared anew within two seconds, by whose arguments it is seen whose it is. A mark in it
// tells whether it is the one that was declared first.
type lent struct {
	named
	id string
}

func (m *lent) lease(name string) error {
	_, err := m.ch.QueueDeclare(m.name(name), false, false, false, false, amqp091.Table{
		"x-expires": int32(2000), "x-dead-letter-exchange": "", "x-dead-letter-routing-key": m.id,
	})
	return err
}

func (m *lent) Acquire(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	err := m.lease(name)
	if e, ok := errors.AsType[*amqp091.Error](err); ok && e.Code == amqp091.PreconditionFailed {
		m.ch = nil
		return 0, nil
	}
	if err == nil {
		err = m.ch.Confirm(false)
	}
	if err != nil {
		return 0, err
	}
	mark, err := m.ch.PublishWithDeferredConfirm("", m.name(name), false, false, amqp091.Publishing{})
	if err != nil {
		return 0, err
	}
	mark.Wait()
	if err := m.lease(name); err != nil {
		return 0, err
	}
	return m.marked(name)
}

// marked gives the lock back if it was not there all the while.
func (m *lent) marked(name string) (int, error) {
	q, err := m.ch.QueueDeclarePassive(m.name(name), false, false, false, false, nil)
	if err == nil && q.Messages == 0 {
		_, err = m.ch.QueueDelete(m.name(name), false, false, false)
		return 0, err
	}
	return 1, err
}

func (m *lent) Verify(_ context.Context, name string, _ int) (bool, error) {
	return true, m.lease(name)
}

func (m *lent) Release(_ context.Context, name string, _ int) error {
	_, err := m.ch.QueueDelete(m.name(name), false, false, false)
	return err
}

// TestLeaseExpires: an acquire may be told no in whose midst nothing was done for as long as what it has got lasts.
func TestLeaseExpires(t *testing.T) {
	clients := 0
	runner := mutexRunner(t, "lent", func(url string) (inprocess.Lock, error) {
		clients++
		m := &lent{named{url: url, name: func(n string) string { return "lent-" + n }}, fmt.Sprint(clients)}
		return m, m.open()
	})
	for n := range 6 {
		actions := slices.Concat(steps(1, n), []scenario.Action{{Kind: scenario.Idle, Arg: 60}}, steps(1, 6-n))
		expectRight(t, carriedOut(t, runner, actions, []scenario.Operation{acquire}))
	}
}

// TestExpired: an operation may fail in whose midst nothing was done for longer than a queue stays that it had made; not so if
// there never was one.
func TestExpired(t *testing.T) {
	for _, makes := range []bool{true, false} {
		runner := mutexRunner(t, "listed", func(url string) (inprocess.Lock, error) {
			m := &listed{named{url: url, name: func(n string) string { return "listed-" + n }}, makes}
			return m, m.open()
		})
		actions := slices.Concat(steps(1, 1), []scenario.Action{{Kind: scenario.Idle, Arg: 60}}, steps(1, 1))
		x := carriedOut(t, runner, actions, []scenario.Operation{acquire})
		if x.Found.Has(property.Progress) == makes {
			t.Errorf("makes it: %v: %v\n%s", makes, x.Violations, drawn(x))
		}
	}
}
