package external_test

import (
	"context"
	"slices"
	"testing"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// nameplate is held by who has declared a queue that is nobody's: the first to do so, who sees that it is not there. It stays when
// its client dies, unless it expires.
type nameplate struct {
	named
	expires amqp091.Table
}

func (m *nameplate) Acquire(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	if _, err := m.ch.QueueDeclarePassive(m.name(name), false, false, false, false, nil); err == nil {
		return 0, nil
	}
	if err := m.open(); err != nil {
		return 0, err
	}
	if _, err := m.ch.QueueDeclare(m.name(name), false, false, false, false, m.expires); err != nil {
		return 0, err
	}
	m.holds = name
	return 1, nil
}

// TestNeverFreed: where it is not known what holds a lock, a client that dies with it may free it, at once or later, but not never.
func TestNeverFreed(t *testing.T) {
	for name, c := range map[string]struct {
		expires amqp091.Table
		never   bool
	}{
		"stays":              {nil, true},
		"expires in an hour": {amqp091.Table{"x-expires": int64(60 * 60 * 1000)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			runner := mutexRunner(t, name, func(url string) (inprocess.Lock, error) {
				m := &nameplate{named{url: url, name: lockName}, c.expires}
				return m, m.open()
			})
			actions := append(steps(1, 4), scenario.Action{Kind: scenario.CrashBefore, Client: 1})
			x := carriedOut(t, runner, actions, []scenario.Operation{acquire}, nil)
			if never := x.Found.Has(property.CrashFrees); never != c.never || !(x.Found | x.Exercised).Has(property.CrashFrees) {
				t.Errorf("never freed: %v\n%s", never, drawn(x))
			}
			if !c.never {
				expectRight(t, x)
			}
		})
	}
}

// TestNeverFreedByWhoWasAboutToHaveIt: the same of a client that dies when it has what holds the lock, and was not told so.
func TestNeverFreedByWhoWasAboutToHaveIt(t *testing.T) {
	found := 0
	for n := range 6 {
		runner := mutexRunner(t, "stays", func(url string) (inprocess.Lock, error) {
			m := &nameplate{named{url: url, name: lockName}, nil}
			return m, m.open()
		})
		actions := append(steps(1, n), scenario.Action{Kind: scenario.CrashEffect, Client: 1})
		x := carriedOut(t, runner, actions, []scenario.Operation{acquire}, nil)
		granted := slices.ContainsFunc(x.History.Events, func(e history.Event) bool { return e.Type == history.OK && e.Held })
		if !granted && x.Found.Has(property.CrashFrees) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("found in %d executions, expected one: behind the declaration of the queue", found)
	}
}
