package external_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/external"
	"github.com/lockproof/lockproof/adapters/inprocess"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// doored is a mutex by an exclusive queue, which is claimed by whoever has another one for so long. With a bug, that one is
// not given back.
type doored struct {
	named
	leaves bool
}

func (m *doored) Acquire(_ context.Context, name string) (int, error) {
	if err := m.open(); err != nil {
		return 0, err
	}
	for _, queue := range []string{name + ".door", m.name(name)} {
		_, err := m.ch.QueueDeclare(queue, false, false, true, false, nil)
		var closed *amqp091.Error
		if errors.As(err, &closed) && closed.Code == amqp091.ResourceLocked {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
	}
	m.holds = name
	if m.leaves {
		return 1, nil
	}
	_, err := m.ch.QueueDelete(name+".door", false, false, false)
	return 1, err
}

// An acquire may be refused a queue by which the lock is not held, while somebody else acquires, and not for ever after.
func TestDoor(t *testing.T) {
	for _, c := range []struct {
		name    string
		leaves  bool
		actions []scenario.Action
		found   property.Set
	}{
		{"while another acquires", false, append(steps(1, 1), steps(2, 3)...), 0},
		{"after a release", true, append(steps(1, 3), steps(2, 3)...), 1<<property.Progress | 1<<property.NoLeak},
	} {
		t.Run(c.name, func(t *testing.T) {
			runner := mutexRunner(t, "doored", func(url string) (inprocess.Lock, error) {
				m := &doored{leaves: c.leaves}
				m.named = named{url: url, name: func(n string) string { return n + ".room" }}
				return m, m.open()
			})
			x := carriedOut(t, runner, c.actions, []scenario.Operation{{Op: lock.Acquire}, {Op: lock.Release}}, []scenario.Operation{{Op: lock.Acquire}})
			if x.Found&^external.Measured != c.found {
				t.Errorf("found %b, expected %b: %v", x.Found, c.found, x.Violations)
			}
		})
	}
}

// attended is a semaphore that one client at a time may acquire or count: whoever has an exclusive queue for so long. With a bug,
// that stays.
type attended struct {
	tidy
	leaves bool
}

// alone does something while nobody else does; ok is false if somebody is about it.
func (s *attended) alone(name string, do func() error) (ok bool, err error) {
	ch, err := s.channel()
	if err != nil {
		return false, err
	}
	if _, err := ch.QueueDeclare(name+".door", false, false, true, false, nil); err != nil {
		return false, refused(err)
	}
	err = do()
	if !s.leaves {
		_, gone := ch.QueueDelete(name+".door", false, false, false)
		err = errors.Join(err, gone, ch.Close())
	}
	return true, err
}

func (s *attended) Acquire(ctx context.Context, name string) (slot int, err error) {
	_, err = s.alone(name, func() (err error) {
		slot, err = s.tidy.Acquire(ctx, name)
		return err
	})
	return slot, err
}

func (s *attended) Count(_ context.Context, name string) (slots int, err error) {
	ok, err := s.alone(name, func() error {
		ch, err := s.channel()
		if err != nil {
			return err
		}
		q, err := ch.QueueDeclarePassive("slots-"+name, true, false, false, false, nil)
		slots = q.Messages // nobody holds any
		return errors.Join(err, ch.Close())
	})
	if err == nil && !ok {
		err = errors.Join(errors.New("somebody is about it"), inprocess.ErrNoEffect)
	}
	return slots, err
}

// A count may be refused while somebody else acquires, where only one client at a time may do either. What refuses it for ever after
// is a leak.
func TestCountAtDoor(t *testing.T) {
	for leaves, found := range map[bool]property.Set{false: 0, true: 1 << property.NoLeak} {
		runner := semaphoreRunner(t, "attended", func(url string) (inprocess.Lock, error) {
			return &attended{tidy{url: url}, leaves}, nil
		})
		actions := slices.Concat(steps(2, 1), steps(1, 2), steps(2, 1), steps(1, 8)) // connections are opened lazily
		if leaves {
			actions = slices.Concat(steps(1, 8), steps(2, 8))
		}
		x, err := runner.Run(t.Context(), &scenario.Scenario{
			Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
			Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{{Op: lock.Count}}}},
			Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: actions},
		})
		if err != nil {
			t.Fatal(err)
		}
		if x.Found&^external.Measured != found {
			t.Errorf("leaves: %v: %v\n%s", leaves, x.Violations, drawn(x))
		}
	}
}

// TestLostAtDoor: what consumer_timeout takes before the acquire is over was had, though the acquire says nothing of its loss: that
// came on another channel than those of the answers that it waits for.
func TestLostAtDoor(t *testing.T) {
	runner := semaphoreRunner(t, "attended", func(url string) (inprocess.Lock, error) { return &attended{tidy: tidy{url: url}}, nil })
	x, err := runner.Run(t.Context(), &scenario.Scenario{
		Locks:    []scenario.Lock{{Name: "jobs", Slots: 1}},
		Clients:  []scenario.Client{{Ops: []scenario.Operation{acquire}}, {Ops: []scenario.Operation{acquire}}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay, Actions: slices.Concat(steps(1, 4), []scenario.Action{{Kind: scenario.Idle, Arg: 1860}}, steps(1, 2), steps(2, 8))},
	})
	if err != nil {
		t.Fatal(err)
	}
	expectRight(t, x)
}

// silent never answers that it has the lock.
type silent struct{ named }

func (m *silent) Acquire(ctx context.Context, _ string) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// A client that does not answer may not have flushed its answer.
func TestSilentClient(t *testing.T) {
	_, err := external.NewRunner(t.Context(), external.Config{Kind: lock.Mutex, Timing: external.Timing{Start: 300 * time.Millisecond}, Starter: inprocess.Starter{
		Name: "silent", New: func(ctx context.Context, url string) (inprocess.Lock, error) {
			m := &silent{named{url: url, name: func(n string) string { return n }}}
			return m, m.open()
		},
	}})
	if err == nil || !strings.Contains(err.Error(), "or is its answer not flushed?") {
		t.Error(err)
	}
}
