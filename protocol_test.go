package lockproof_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lockproof/lockproof"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// hasty is the reference semaphore with a bug: an acquire takes the error RESOURCE_LOCKED for success.
type hasty struct{ *amqplock.Protocol }

func (h hasty) Apply(m *amqplock.Machine, r amqp.Reply) {
	if m.Phase == amqplock.Claiming && r.Code == amqp.ResourceLocked {
		r = amqp.Reply{Kind: amqp.OK}
	}
	h.Protocol.Apply(m, r)
}

func newHasty(reference *amqplock.Protocol) amqplock.Implementation { return hasty{reference} }

// TestProtocol: a custom lock machine is sampled and explored. Its counterexample is minimised, saved, loaded and
// replayed.
func TestProtocol(t *testing.T) {
	mine := lockproof.Protocol("hasty", lockproof.Semaphore, newHasty)
	excluding := []lockproof.Property{lockproof.MutualExclusion}
	sampled, err := lockproof.Prove(t.Context(), mine, lockproof.Sample{Options: lockproof.Options{Properties: excluding, First: true}, Executions: 1000})
	if err != nil {
		t.Fatal(err)
	}
	explored, err := lockproof.Explore(t.Context(), mine, lockproof.Bounds{Options: lockproof.Options{Properties: excluding}, Admins: lockproof.None, Slots: 1, Crashes: lockproof.None})
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range []*lockproof.Result{sampled, explored} {
		j := res.Judgement(lockproof.MutualExclusion)
		if res.Target != "hasty" || j.Verdict != lockproof.Violated || j.Counterexample.Steps > 14 {
			t.Fatalf("%s: %s is %s in %d steps", res.Target, j.Property, j.Verdict, j.Counterexample.Steps)
		}
		file := filepath.Join(t.TempDir(), "found.json")
		if err := j.Counterexample.Save(file); err != nil {
			t.Fatal(err)
		}
		c, err := lockproof.LoadCounterexample(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lockproof.Replay(t.Context(), c, lockproof.Options{}); !errors.Is(err, lockproof.ErrInvalid) || !strings.Contains(err.Error(), "hasty") {
			t.Errorf("a counterexample without its lock: %v", err)
		}
		c.Target = mine
		again, err := lockproof.Replay(t.Context(), c, lockproof.Options{})
		if err != nil || !errors.Is(again.Err(), lockproof.ErrViolated) {
			t.Errorf("replayed: %v", err)
		}
		c.Target = lockproof.Reference(lockproof.Semaphore)
		if again, err := lockproof.Replay(t.Context(), c, lockproof.Options{}); err != nil || errors.Is(again.Err(), lockproof.ErrViolated) {
			t.Errorf("replayed with the reference: %v", err)
		}
	}
}

// TestProtocolAsReference: a custom machine that overrides nothing violates no property.
func TestProtocolAsReference(t *testing.T) {
	mine := lockproof.Protocol("as it is", lockproof.Semaphore, func(p *amqplock.Protocol) amqplock.Implementation { return p })
	res, err := lockproof.Prove(t.Context(), mine, lockproof.Sample{Executions: 500})
	if err != nil || res.Err() != nil {
		t.Errorf("sampled: %v, %v", err, res)
	}
	res, err = lockproof.Explore(t.Context(), mine, lockproof.Bounds{Rounds: 1, Slots: 1})
	if err != nil || res.Err() != nil || res.States == 0 {
		t.Errorf("explored: %v, %v", err, res)
	}
}

// faulty is the reference machine with one method replaced; nil functions replace nothing.
type faulty struct {
	*amqplock.Protocol
	start   func(*amqplock.Machine, lock.Op)
	choices func(*amqplock.Machine) int
	next    func(*amqplock.Machine) amqp.Command
	apply   func(*amqplock.Machine)
}

func (f faulty) Start(m *amqplock.Machine, op lock.Op, arg uint8) {
	f.Protocol.Start(m, op, arg)
	if f.start != nil {
		f.start(m, op)
	}
}

func (f faulty) Choices(m *amqplock.Machine) int {
	if f.choices != nil {
		return f.choices(m)
	}
	return f.Protocol.Choices(m)
}

func (f faulty) Next(m *amqplock.Machine) amqp.Command {
	if f.next != nil && m.Op != lock.Connect {
		return f.next(m)
	}
	return f.Protocol.Next(m)
}

func (f faulty) Apply(m *amqplock.Machine, r amqp.Reply) {
	f.Protocol.Apply(m, r)
	if f.apply != nil {
		f.apply(m)
	}
}

// TestProtocolMistakes: a custom machine that panics, never returns or breaks the rules of a machine ends the run. The
// error names the machine and the method.
func TestProtocolMistakes(t *testing.T) {
	endless := make(chan struct{})
	defer close(endless)
	n := 0
	for name, c := range map[string]struct {
		want string
		faulty
	}{
		"panics":           {"Next of acquire: it panicked: no idea; at ", faulty{next: func(m *amqplock.Machine) amqp.Command { panic("no idea") }}},
		"leaves":           {"ended its goroutine", faulty{apply: func(*amqplock.Machine) { runtime.Goexit() }}},
		"never returns":    {"it has not returned within", faulty{next: func(*amqplock.Machine) amqp.Command { <-endless; return amqp.Command{} }}},
		"never opens":      {"Next of connect: expected the connection to be open", faulty{apply: func(m *amqplock.Machine) { reopen(m) }}},
		"commands nothing": {"Next of acquire: expected a command", faulty{next: func(*amqplock.Machine) amqp.Command { return amqp.Command{} }}},
		"made up a queue": {"expected a queue of the layout, found queue 9999", faulty{next: func(m *amqplock.Machine) amqp.Command {
			return amqp.Command{Method: amqp.QueueDeclare, Channel: uint16(m.Channel), Queue: 9999}
		}}},
		"fewer than no ways": {"Choices of acquire: expected 0 to 255 ways, found -1", faulty{choices: func(*amqplock.Machine) int { return -1 }}},
		"holds too much":     {"expected it to hold a slot", faulty{apply: func(m *amqplock.Machine) { m.Held = 99 }}},
		"says nothing":       {"expected an outcome", faulty{start: func(m *amqplock.Machine, op lock.Op) { silence(m, op) }}},
		"another operation":  {"expected the machine's Op to be acquire, found wait", faulty{start: func(m *amqplock.Machine, op lock.Op) { rename(m, op) }}},
		"by chance": {"it goes on in two ways from one state", faulty{apply: func(m *amqplock.Machine) {
			n++
			m.Top = uint8(n)
		}}},
		"changes as it looks": {"it changed the machine", faulty{choices: func(m *amqplock.Machine) int { m.Top++; return 0 }}},
	} {
		t.Run(name, func(t *testing.T) {
			mine := lockproof.Protocol(name, lockproof.Semaphore, func(p *amqplock.Protocol) amqplock.Implementation {
				f := c.faulty
				f.Protocol = p
				return f
			})
			mine = mine.Limit(200 * time.Millisecond)
			_, sampled := lockproof.Prove(t.Context(), mine, lockproof.Sample{Executions: 50, Workers: 1, Clients: 1, Admins: lockproof.None, Slots: 1})
			_, explored := lockproof.Explore(t.Context(), mine, lockproof.Bounds{Workers: 1, Clients: 1, Admins: lockproof.None, Slots: 1})
			for _, err := range []error{sampled, explored} {
				var mistake *lockproof.ProtocolError
				if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "protocol "+name+": ") || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v; want %s", err, c.want)
				}
			}
		})
	}
}

// reopen makes a machine that has connected begin to connect again.
func reopen(m *amqplock.Machine) {
	if m.Op == lock.Connect {
		m.Phase, m.Link, m.Answered, m.Result = amqplock.Dialing, amqplock.Down, 0, lock.Result{}
	}
}

func silence(m *amqplock.Machine, op lock.Op) {
	if op == lock.Acquire {
		m.Phase, m.Result = amqplock.NoPhase, lock.Result{}
	}
}

func rename(m *amqplock.Machine, op lock.Op) {
	if op == lock.Acquire {
		m.Op = lock.Wait
	}
}

// TestProtocolNone: a protocol is refused if its function is nil or returns nil, or if its name or type is invalid.
func TestProtocolNone(t *testing.T) {
	none := lockproof.Protocol("none", lockproof.Mutex, func(*amqplock.Protocol) amqplock.Implementation { return nil })
	if _, err := lockproof.Prove(t.Context(), none, lockproof.Sample{Executions: 1}); err == nil || !strings.Contains(err.Error(), "it returned nil") {
		t.Errorf("got %v", err)
	}
	for _, target := range []lockproof.Target{
		lockproof.Protocol("semaphore", lockproof.Semaphore, newHasty), lockproof.Protocol("", lockproof.Semaphore, newHasty),
		lockproof.Protocol("mine", lockproof.Semaphore, nil), lockproof.Protocol("mine", "barrier", newHasty),
	} {
		if _, err := lockproof.Prove(t.Context(), target, lockproof.Sample{Executions: 1}); !errors.Is(err, lockproof.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	}
}
