package external_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// dialled is a mutex that dials once. What becomes of it when its connection is lost is up to it.
type dialled struct {
	named
	lost func(*dialled)
	next atomic.Pointer[amqp091.Connection]
}

func (m *dialled) Acquire(ctx context.Context, name string) (int, error) {
	if next := m.next.Swap(nil); next != nil {
		m.conn = next
	}
	if m.conn != nil && m.conn.IsClosed() {
		m.lost(m)
		return 0, amqp091.ErrClosed
	}
	return m.named.Acquire(ctx, name)
}

// TestStranded: who never opens another connection for one that was lost is told of; not so who does so for the operation after
// the one that fails, or by itself.
func TestStranded(t *testing.T) {
	for name, c := range map[string]struct {
		lost     func(*dialled)
		revival  time.Duration
		stranded bool
	}{
		"never":        {func(*dialled) {}, time.Millisecond, true},
		"for the next": {func(m *dialled) { m.conn = nil }, time.Millisecond, false},
		"by itself":    {func(m *dialled) { go m.redial() }, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			runner := timedRunner(t, lock.Mutex, external.Timing{Revival: c.revival}, "dialled", func(url string) (inprocess.Lock, error) {
				m := &dialled{named: named{url: url, name: func(n string) string { return "dialled-" + n }}, lost: c.lost}
				return m, m.open()
			})
			actions := append([]scenario.Action{{Kind: scenario.Drop, Client: 1}}, steps(1, 9)...)
			x := carriedOut(t, runner, actions, slices.Repeat([]scenario.Operation{acquire}, 4))
			if x.Found.Has(property.Progress) != c.stranded {
				t.Errorf("%v\n%s", x.Violations, drawn(x))
			}
		})
	}
}

// redial opens a connection that the next operation uses.
func (m *dialled) redial() {
	if conn, err := amqp091.Dial(m.url); err == nil {
		m.next.Store(conn)
	}
}
