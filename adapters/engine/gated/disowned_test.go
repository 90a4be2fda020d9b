package gated_test

import (
	"context"
	"errors"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
	"github.com/lockproof/lockproof/sim"
)

// twoConnections is a mutex held by an exclusive queue of one connection. Another connection then notes the holder. If
// that fails, the acquire fails, and gives the queue back. forgets is a bug: the queue stays for as long as the client
// lives.
type twoConnections struct {
	url     string
	forgets bool
	holds   *amqp.Connection
	ch      *amqp.Channel
	held    bool
}

func (m *twoConnections) Acquire(_ context.Context, name string) (int, error) {
	if m.ch.IsClosed() {
		if err := m.open(); err != nil {
			return 0, err
		}
	}
	_, err := m.ch.QueueDeclare(name+".owned", false, false, true, false, nil)
	var refused *amqp.Error
	if errors.As(err, &refused) && refused.Code == amqp.ResourceLocked {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := m.note(name); err != nil {
		if m.forgets {
			return 0, err
		}
		return 0, errors.Join(err, m.delete(name))
	}
	m.held = true
	return 1, nil
}

// note notes that somebody has the mutex.
func (m *twoConnections) note(name string) error {
	conn, err := amqp.Dial(m.url)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	_, err = ch.QueueDeclare(name+".noted", false, true, false, false, nil)
	return err
}

func (m *twoConnections) delete(name string) error {
	_, err := m.ch.QueueDelete(name+".owned", false, false, false)
	return err
}

func (m *twoConnections) open() (err error) {
	if m.holds == nil || m.holds.IsClosed() {
		if m.holds, err = amqp.Dial(m.url); err != nil {
			return err
		}
	}
	m.ch, err = m.holds.Channel()
	return err
}

func (m *twoConnections) Release(_ context.Context, name string, _ int) error {
	if !m.held {
		return nil
	}
	m.held = false
	return m.delete(name)
}

func (m *twoConnections) Verify(context.Context, string, int) (bool, error) { return m.held, nil }

func (m *twoConnections) Close() error { return m.holds.Close() }

// TestDisowns: a client whose acquire has failed, and which releases the mutex, does not keep it from others for as
// long as it lives.
func TestDisowns(t *testing.T) {
	t.Parallel()
	for _, forgets := range []bool{false, true} {
		runner := runnerOf(t, lock.Mutex, foreign.Timing{}, func(_ context.Context, url string) (inprocess.Lock, error) {
			m := &twoConnections{url: url, forgets: forgets}
			return m, m.open()
		})
		found := false
		for at := range uint16(6) {
			x := play(t, runner, runner.Playable(scenario.Scenario{
				Locks:    []scenario.Lock{{Name: "jobs"}},
				Clients:  []scenario.Client{{Ops: []scenario.Operation{{Op: lock.Acquire}}}, {}},
				Faults:   []scenario.Fault{{Do: scenario.Lose, Client: 1, At: 1 + at}},
				Deeper:   scenario.EveryCommand,
				Schedule: scenario.Schedule{Strategy: scenario.PCT, Priorities: []uint8{1, 2}},
			}))
			again := play(t, runner, sim.Replay(x.Trace))
			bad := x.Found &^ property.Promises
			if again.Found&^property.Promises != bad || bad != 0 && (!forgets || bad != property.Set(0).With(property.NoLeak)) {
				t.Errorf("forgets %v, reply %d is lost: %v, replayed %v", forgets, 1+at, x.Violations, again.Violations)
			}
			found = found || bad != 0
		}
		if found != forgets {
			t.Errorf("forgets %v: found %v", forgets, found)
		}
	}
}
