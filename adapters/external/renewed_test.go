package external_test

import (
	"context"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// leased is held by who has an exclusive queue, which goes when nobody has used it for long. Who renews it uses it now and then,
// on a channel for that.
type leased struct {
	named
	expires int32 // milliseconds
	renews  bool
	stop    func()
}

func (m *leased) Acquire(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	_, err := m.ch.QueueDeclare(m.name(name), false, false, true, false, amqp091.Table{"x-expires": m.expires})
	if err != nil {
		return 0, m.open()
	}
	m.holds = name
	if m.renews {
		return 1, m.renew(name)
	}
	return 1, nil
}

func (m *leased) renew(name string) error {
	ch, err := m.conn.Channel()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
				_, _ = ch.QueueDeclarePassive(m.name(name), false, false, true, false, nil)
			}
		}
	})
	m.stop = func() { cancel(); running.Wait() }
	return nil
}

func (m *leased) Release(ctx context.Context, name string, slot int) error {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
	return m.named.Release(ctx, name, slot)
}

// TestRenewed: who renews what would expire loses it by no time that passes for the broker alone, as its own clock would have had
// it renewed. Who does not renew it loses it.
func TestRenewed(t *testing.T) {
	for _, test := range []struct {
		expires int32
		renews  bool
	}{{expires: 8000, renews: true}, {expires: 400}} {
		runner := mutexRunner(t, "leased", func(url string) (inprocess.Lock, error) {
			m := &leased{named: named{url: url, name: lockName}, expires: test.expires, renews: test.renews}
			return m, m.open()
		})
		actions := []scenario.Action{step(1), step(1), {Kind: scenario.Idle, Arg: 20}, step(2), step(2)}
		x := carriedOut(t, runner, actions, []scenario.Operation{acquire}, []scenario.Operation{acquire})
		if found := x.Found.Has(property.MutualExclusion); found == test.renews {
			t.Errorf("renewed: %v, two holders: %v\n%s", test.renews, found, drawn(x))
		}
		if n := x.Uncontrolled.Unidled; n > 0 != test.renews {
			t.Errorf("renewed: %v, and %d long times did not pass", test.renews, n)
		}
	}
}
