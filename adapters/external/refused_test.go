package external_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// refusing never grants anything, for a reason or for none.
type refusing struct {
	named
	why error
}

func (m *refusing) Acquire(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	_, err := m.ch.QueueDeclare(m.name(name), false, true, false, false, nil)
	if err == nil {
		_, err = m.ch.QueueDelete(m.name(name), false, false, false)
	}
	return 0, errors.Join(err, m.why)
}

// TestRefusedFirst: who asks first, and alone, for a lock is not refused, whatever holds it; others may be.
func TestRefusedFirst(t *testing.T) {
	for _, why := range []error{nil, errors.New("the channel is not open")} {
		runner := mutexRunner(t, "refusing", func(url string) (inprocess.Lock, error) {
			m := &refusing{named{url: url, name: lockName}, why}
			return m, m.open()
		})
		asks := []scenario.Operation{acquire}
		for _, c := range []struct {
			actions []scenario.Action
			clients int
			wrong   bool
		}{
			{steps(1, 3), 1, true},
			{append(steps(1, 1), steps(2, 3)...), 2, false},
			{append([]scenario.Action{step(1), {Kind: scenario.Drop, Client: 1}}, steps(1, 3)...), 1, false},
		} {
			x := carriedOut(t, runner, c.actions, [][]scenario.Operation{asks, asks}[:c.clients]...)
			if found := x.Found.Has(property.Progress); found != c.wrong {
				t.Errorf("%v, %v: found %v, expected %v\n%s", why, c.actions, found, c.wrong, drawn(x))
			}
		}
	}
}
