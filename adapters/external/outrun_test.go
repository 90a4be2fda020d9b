package external

import (
	"testing"
	"time"

	"github.com/lockproof/lockproof/adapters/wire"
	"github.com/lockproof/lockproof/adapters/wire/frame"
	"github.com/lockproof/lockproof/model/lock"
)

// unwieldy is a client that can't be compared with another.
type unwieldy struct {
	Client
	_ []int
}

// racer is a client of a runner without sockets, whose commands come when the test says.
type racer struct {
	*clientHandle
	conns [2]*wire.Conn
}

func newRacer() *racer {
	s := &Runner{
		wake: make(chan struct{}, 1), habits: make(map[cause]*habit), common: make(map[cause]habit), passes: make(map[cause]int),
		rests: make(map[rest]bool), lulls: make(map[rest]bool), hung: make(map[rest]bool),
	}
	a := &clientHandle{runner: s, client: unwieldy{}}
	a.host = a
	s.handles = []*clientHandle{a}
	return &racer{a, [2]*wire.Conn{{Number: 1}, {Number: 2}}}
}

// calls begins an operation.
func (r *racer) calls(op lock.Op) {
	r.leaves()
	r.calling, r.doing, r.since, r.steady = true, op, 0, false
}

// sent has a command come on a connection, which waits at the gate.
func (r *racer) sent(conn int, m frame.Method) *wire.Command {
	c := &wire.Command{Message: wire.Message{Channel: 1, Method: m}, Conn: r.conns[conn], Replies: m.ID().IsSync()}
	r.sends(c)
	r.parked = append(r.parked, c)
	return c
}

// waitsFor has the client be taken for one that waits for its reply.
func (r *racer) waitsFor() {
	r.waits = r.waiting()
	r.steady = r.waits != cause{}
}

// passed has the broker answer the first command.
func (r *racer) passed() {
	c := r.parked[0]
	r.parked = r.parked[1:]
	r.goesOn()
	r.hears(&wire.Answer{Settles: []*wire.Command{c}})
}

// done ends the operation; what comes then by itself is not waited for.
func (r *racer) done() {
	r.answers(answer{result: lock.Result{Outcome: lock.Done}})
	r.settled = true
}

func (r *racer) expect(t *testing.T, what string, late, raced int) {
	t.Helper()
	if r.late != late || r.raced != raced {
		t.Errorf("%s: %d came late and %d raced, expected %d and %d", what, r.late, r.raced, late, raced)
	}
}

// TestLateClose: a connection that is closed at a time of its own after the answer is counted when it is closed, also
// where that falls into the next operation; and so are the times before in the execution that were not waited for.
func TestLateClose(t *testing.T) {
	r := newRacer()
	for range 3 { // nothing is seen to come after release
		r.calls(lock.Release)
		r.done()
	}
	r.expect(t, "before", 0, 0)
	r.sent(0, &frame.ConnectionClose{})
	r.expect(t, "while idle", 1, 2) // after two releases it may have come unseen
	if got := r.runner.habit(r.cause).total; got != 1 {
		t.Errorf("waits for %d commands after release", got)
	}

	r = newRacer()
	r.calls(lock.Release)
	r.done()
	released := r.cause
	r.calls(lock.Acquire)
	r.sent(1, &frame.QueueDeclare{})
	r.waitsFor()
	r.sent(0, &frame.ConnectionClose{})
	r.expect(t, "in the next operation", 0, 2)
	if got := r.runner.habit(released).total; got != 1 {
		t.Errorf("waits for %d commands after release", got)
	}
	if (&Uncontrolled{Raced: 1}).Free() {
		t.Error("an execution with a race is taken for controlled")
	}
}

// TestAnswersAhead: where a client is seen to answer without waiting until its queue is deleted, how often the queue
// was deleted before it answered is counted.
func TestAnswersAhead(t *testing.T) {
	r := newRacer()
	for range 2 {
		r.calls(lock.Release)
		r.sent(0, &frame.QueueDelete{})
		r.waitsFor()
		r.passed()
		r.done()
	}
	r.expect(t, "as long as it waits", 0, 0)
	r.calls(lock.Release)
	r.sent(0, &frame.QueueDelete{})
	at := r.waiting()
	r.done()
	r.expect(t, "when it does not", 0, 2)
	if got := r.runner.habit(at).total; got != 1 {
		t.Errorf("waits for %d answers", got)
	}
}

// TestMessagesBehind: messages that a client writes while one waits for its confirm come behind it whenever they come.
// Whether one was there when the first passed decides how they are confirmed, so that the times before are counted when
// none was.
func TestMessagesBehind(t *testing.T) {
	r := newRacer()
	publish := func() { r.sent(0, &frame.BasicPublish{}).Replies = true }
	r.calls(lock.Acquire)
	publish()
	r.waitsFor()
	publish()
	r.expect(t, "behind the first", 0, 0)
	r = newRacer()
	for range 2 {
		r.calls(lock.Acquire)
		publish()
		r.waitsFor()
		r.passed()
		r.done()
	}
	r.calls(lock.Acquire)
	publish()
	r.waitsFor()
	publish()
	r.expect(t, "behind the first, where none was before", 0, 2)
}

var standard = Timing{}.withDefaults()

// TestHabitGivenUp: what is seen to come and then does not, again and again, is not waited for any more, and counted each
// time.
func TestHabitGivenUp(t *testing.T) {
	r := newRacer()
	of := cause{op: lock.Release, outcome: lock.Done}
	h := r.runner.habit(of)
	for range mostGiven {
		r.comes(of, 1)
		for range habitMisses {
			h.learn(0, 0)
		}
	}
	for n := 1; n <= 2; n++ {
		r.runner.passesOn(of)
		r.comes(of, 1)
		if h.limit(0, standard.Grace, &standard) != 0 {
			t.Error("it is waited for again")
		}
		r.expect(t, "in vain", 0, n)
	}
}

// TestJoins: whether a confirm is sent with the next one is decided when its message passes: by whether another one was
// at the gate, on the same channel.
func TestJoins(t *testing.T) {
	r := newRacer()
	r.calls(lock.Acquire)
	publish := func(conn int, channel uint16) *wire.Command {
		c := r.sent(conn, &frame.BasicPublish{})
		c.Channel, c.Replies = channel, true
		return c
	}
	first := publish(0, 1)
	publish(1, 1)
	publish(0, 2)
	passes := exchange{command: first, joins: r.writesOn(first)}
	confirm := func(tag uint64) *wire.Answer {
		return &wire.Answer{Message: wire.Message{Method: &frame.BasicAck{DeliveryTag: tag}}, Settles: []*wire.Command{first}}
	}
	second := publish(0, 1)
	if joins(confirm(1), &passes) {
		t.Error("joined with a message that came later")
	}
	if passes.joins = r.writesOn(first); !joins(confirm(1), &passes) || joins(confirm(2), &passes) {
		t.Error("expected every other confirm to be joined")
	}
	if passes.command = second; joins(confirm(1), &passes) {
		t.Error("joined for what was there when another message passed")
	}
}

// TestTimeUpAtTheGateIsNoHabit: who was told how long to wait for the lock and says no while a command of its is at the gate
// does that by its clock. It is waited for there no more than before, as that would take the time of its next acquires; and it is
// chance, unless the schedule has waited for it.
func TestTimeUpAtTheGateIsNoHabit(t *testing.T) {
	for _, awaited := range []bool{false, true} {
		r := newRacer()
		r.calls(lock.Acquire)
		r.mayWait = true
		r.sent(0, &frame.QueueDeclare{})
		at := r.waiting()
		r.waitsFor()
		r.runner.awaiting = awaited
		r.done()
		if h := r.runner.habit(at); h.total != 0 || (r.raced == 0) != awaited {
			t.Errorf("awaited %v: %d known to come, %d by chance", awaited, h.total, r.raced)
		}
	}
}

// TestGivingUpIsNoHabit: a client whose operation takes long, as others are waited for, may give it up while its command is at the
// gate. Where that was taken for what it always does there, it was waited for until it gave up, each time.
func TestGivingUpIsNoHabit(t *testing.T) {
	for _, took := range []time.Duration{0, time.Minute} {
		for how, goOn := range map[string]func(r *racer){
			"closes":  func(r *racer) { r.waitsFor(); r.sent(0, &frame.ConnectionClose{}) },
			"answers": (*racer).done,
		} {
			r := newRacer()
			r.runner.config.Slow = time.Second
			r.calls(lock.Acquire)
			r.began = time.Now().Add(-took)
			r.sent(0, &frame.QueueDelete{})
			at := r.waiting()
			goOn(r)
			if known := r.runner.habit(at).total > 0; known != (took == 0) {
				t.Errorf("it %s after %s, and is waited for: %v", how, took, known)
			}
		}
	}
}

// TestReopened: a channel that the broker has closed, and whose number is used again between two executions, is a new one.
func TestReopened(t *testing.T) {
	l := &connection{client: newRacer().clientHandle, closing: 1}
	l.passing(&wire.Command{Message: wire.Message{Channel: 1, Method: &frame.ChannelOpen{}}})
	if l.closing != 0 {
		t.Error("it is taken for the closed one, and what is sent there is not answered")
	}
}

// TestPatience: who waits for a reply that cannot come, where others were seen to wait for ever, is waited for an eighth as long,
// whatever it was called for, unless it is to be confirmed what was found.
func TestPatience(t *testing.T) {
	a := newRacer()
	a.calls(lock.Acquire)
	lost := &wire.Command{Message: wire.Message{Method: &frame.ChannelClose{}}}
	r := run{Runner: a.runner, clients: []clientState{{clientHandle: a.clientHandle, busy: true, op: lock.Acquire, unheard: lost}}}
	for _, want := range []time.Duration{time.Second, time.Second / 8, time.Second} {
		if got := r.patience(time.Second); got != want {
			t.Errorf("waited for %v, expected %v", got, want)
		}
		r.Patient(len(r.hung) > 0)
		r.hung[rest{method: frame.ChannelCloseID}] = true
	}
}
