package external_test

import (
	"context"
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
