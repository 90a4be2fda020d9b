package rabbitmq_test

import (
	"flag"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/sim/amqp/broker"
)

// mistake is one way in which a simulated broker behaves wrongly. The function apply carries out commands in place of
// the broker's own Apply.
type mistake struct {
	name  string
	apply func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply
}

var mistakes = []mistake{
	{"a probe does not find another connection's exclusive queue",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			r := w.Apply(c, cmd)
			if owner := w.Owner(cmd.Queue); cmd.Method == amqp.BasicPublish && cmd.Flags.Has(amqp.Mandatory) && owner != 0 && owner != c && r.Kind == amqp.Ack {
				r.Returned, r.Code = 1, amqp.NoRoute
			}
			return r
		}},
	{"a passive declare of another connection's exclusive queue succeeds",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			if w.Owner(cmd.Queue) != 0 && cmd.Method == amqp.QueueDeclare && cmd.Flags.Has(amqp.Passive) {
				return amqp.Reply{Kind: amqp.OK, Messages: uint32(w.Depth(cmd.Queue))}
			}
			return w.Apply(c, cmd)
		}},
	{"exclusive queues belong to channels",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			for q := amqp.Queue(1); q <= queues && cmd.Method == amqp.ChannelClose && cmd.Channel != spare; q++ {
				if w.Owner(q) == c {
					w.Apply(c, amqp.Command{Method: amqp.QueueDelete, Channel: spare, Queue: q})
				}
			}
			return w.Apply(c, cmd)
		}},
	{"deleting a queue that does not exist is an error",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			if cmd.Method == amqp.QueueDelete && !w.Exists(cmd.Queue) {
				return amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.NotFound}
			}
			return w.Apply(c, cmd)
		}},
	{"declaring again does not count messages",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			r := w.Apply(c, cmd)
			if cmd.Method == amqp.QueueDeclare {
				r.Messages = 0
			}
			return r
		}},
	{"a commit swallows what comes back",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			r := w.Apply(c, cmd)
			if cmd.Method == amqp.TxCommit {
				r.Returned, r.Code = 0, 0
			}
			return r
		}},
	{"what is unbound stays bound",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			if cmd.Method == amqp.QueueUnbind {
				return amqp.Reply{Kind: amqp.OK}
			}
			return w.Apply(c, cmd)
		}},
	{"an exchange stays when its last binding goes",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			if cmd.Method == amqp.ExchangeDeclare {
				cmd.Flags &^= amqp.AutoDelete
			}
			return w.Apply(c, cmd)
		}},
	{"what is put back is lost",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			if cmd.Method == amqp.BasicNack {
				cmd.Flags &^= amqp.Requeue
			}
			return w.Apply(c, cmd)
		}},
	{"exclusive consumers do not exclude",
		func(w *simulated, c broker.Conn, cmd amqp.Command) amqp.Reply {
			if cmd.Method == amqp.BasicConsume {
				cmd.Flags &^= amqp.Exclusive
			}
			return w.Apply(c, cmd)
		}},
}

// readable is the maximum number of lines in a counterexample. The lines include the two differing outcomes of the last
// step.
const readable = 10

// Random sequences find each mistake of a wrong broker, with a counterexample short enough to read.
func TestMistakesAreFound(t *testing.T) {
	set(t, "rapid.nofailfile", "true")
	checks := "1000" // rapid stops at the first failure
	if testing.Short() {
		checks = "5000" // with -short, rapid does only a fifth of them
	}
	set(t, "rapid.checks", checks)
	set(t, "rapid.seed", "1") // a fixed seed, so that the test does not depend on luck
	for i, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			if testing.Short() && i%5 > 0 {
				t.Skip("skipped: -short tries every fifth")
			}
			var found *disagreement
			if !fails(func(t *rapid.T) {
				wrong := newSimulated(newNames(), broker.Options{})
				wrong.apply = func(c broker.Conn, cmd amqp.Command) amqp.Reply { return m.apply(wrong, c, cmd) }
				if err := newMatch(wrong, broker.Options{}, 0).play(drafts.Draw(t, "steps")); err != nil {
					found = err.(*disagreement)
					t.Fatal(err)
				}
			}) {
				t.Fatal("not found")
			}
			if len(found.lines) > readable {
				t.Error(found)
			}
		})
	}
}

// set sets a flag until the end of the test.
func set(t *testing.T, name, value string) {
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Value.Set(before) })
}

// fails reports whether rapid finds that the property is violated. The last failing run is the smallest.
func fails(property func(*rapid.T)) bool {
	r := new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.Check(r, property)
	}()
	<-done
	return r.failed
}

// recorder is a test for rapid that only records whether it failed.
type recorder struct{ failed bool }

func (r *recorder) Helper()               {}
func (r *recorder) Name() string          { return "recorder" }
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Log(...any)            {}
func (r *recorder) Skipf(string, ...any)  { r.SkipNow() }
func (r *recorder) Skip(...any)           { r.SkipNow() }
func (r *recorder) SkipNow()              { runtime.Goexit() }
func (r *recorder) Errorf(string, ...any) { r.Fail() }
func (r *recorder) Error(...any)          { r.Fail() }
func (r *recorder) Fatalf(string, ...any) { r.FailNow() }
func (r *recorder) Fatal(...any)          { r.FailNow() }
func (r *recorder) FailNow()              { r.failed = true; runtime.Goexit() }
func (r *recorder) Fail()                 { r.failed = true }
func (r *recorder) Failed() bool          { return r.failed }
