package external_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// slack is a right mutex whose driver waits for a reply that cannot come, after its channel was closed, until over is.
type slack struct {
	named
	over <-chan struct{}
}

func (m *slack) Verify(ctx context.Context, name string, slot int) (bool, error) {
	err := m.ch.Qos(1, 0, false)
	if err != nil {
		<-m.over
		return false, err
	}
	return m.named.Verify(ctx, name, slot)
}

// TestDriversLimit: who is told late by its driver that its channel was closed, later than any operation may take, is not accused
// for that, nor waited for so long again; who is never told is.
func TestDriversLimit(t *testing.T) {
	for _, ends := range []bool{false, true} {
		over := make(chan struct{})
		timing := external.Timing{Patience: 50 * time.Millisecond, Limit: 50 * time.Millisecond, Driver: 100 * time.Millisecond}
		if ends {
			timing.Driver = time.Minute
		}
		runner := timedRunner(t, lock.Mutex, timing, "slack", func(url string) (inprocess.Lock, error) {
			m := &slack{named: named{url: url, name: func(n string) string { return n + ".lock" }}, over: over}
			return m, m.open()
		})
		actions := append(steps(1, 2), scenario.Action{Kind: scenario.ChannelError, Client: 1})
		for range 2 {
			if ends {
				time.AfterFunc(200*time.Millisecond, func() { over <- struct{}{} })
			}
			x := carriedOut(t, runner, append(actions, steps(1, 4)...), []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Verify}}, nil)
			if x.Found.Has(property.Progress) == ends {
				t.Errorf("ends %v: %v\n%s", ends, x.Violations, drawn(x))
			}
		}
	}
}
