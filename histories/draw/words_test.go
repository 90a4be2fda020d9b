package draw

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockproof/lockproof/internal/historiestest"
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// TestReplyWords: each reply of a server is described in words.
func TestReplyWords(t *testing.T) {
	for want, r := range map[string]amqp.Reply{
		"":                {Kind: amqp.NoReply},
		"404 NOT_FOUND":   {Kind: amqp.ChannelClosed, Code: amqp.NotFound},
		"connection gone": {Kind: amqp.ConnectionClosed},
		"connection closed, 320 CONNECTION_FORCED": {Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced},
		"no reply":     {Kind: amqp.Lost},
		"message 7":    {Kind: amqp.GetOK, Message: 7},
		"empty":        {Kind: amqp.GetEmpty},
		"NO_ROUTE":     {Kind: amqp.Ack, Returned: 1},
		"ok, NO_ROUTE": {Kind: amqp.OK, Returned: 2},
		"ok":           {Kind: amqp.OK},
		"ack":          {Kind: amqp.Ack},
	} {
		if got := r.Words(); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// TestCallWords: each call and each answer is described in words.
func TestCallWords(t *testing.T) {
	for want, e := range map[string]history.Event{
		"acquire": {F: history.F(lock.Acquire), Slot: 3}, "add 2": {F: history.F(lock.Add), Slots: 2}, "wait 3": {F: history.F(lock.Wait), Slot: 3},
		"create 1": {F: history.F(lock.Create), Slots: 1}, "remove 4": {F: history.F(lock.Remove), Slots: 4}, "destroy": {F: history.F(lock.Destroy), Slots: 4},
	} {
		if got := invocationWords(e, lock.Semaphore); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
	answer := func(op lock.Op, typ history.EventType, held bool, slot, slots uint16, why lock.Reason) history.Event {
		return history.Event{F: history.F(op), Type: typ, Held: held, Slot: slot, Slots: slots, Reason: why}
	}
	var said strings.Builder
	for _, op := range []lock.Op{lock.Acquire, lock.Verify, lock.Release, lock.Count, lock.Wait, lock.Add, lock.Destroy} {
		for _, typ := range []history.EventType{history.OK, history.Fail, history.Info} {
			for _, why := range []lock.Reason{lock.NoReason, lock.Full, lock.TimedOut} {
				for _, held := range []bool{true, false} {
					said.WriteString(op.String() + " " + typ.String() + " " + why.String() + ": " + completionWords(answer(op, typ, held, 1, 3, why), lock.Semaphore) + "\n")
				}
			}
		}
	}
	historiestest.Golden(t, "answers.txt", said.String())
}

// broker has the words by which texts speak of a RabbitMQ broker.
var broker = lock.Words{Server: "broker", Restarted: "connections and exclusive queues are gone"}

// TestEveryWord compares the words for every action, command, answer and state of semaphores and mutexes with a file.
func TestEveryWord(t *testing.T) {
	var said strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }
	for do := scenario.Step; do <= scenario.Choose; do++ {
		for _, a := range []scenario.Action{{Kind: do, Client: 2}, {Kind: do, Client: 2, Arg: 3}, {Kind: do, Client: 2, Late: true}} {
			line("%v: %s", a, actionWords(a, broker))
		}
	}
	names := new(amqp.Names)
	queue := names.Intern("jobs-1-A")
	for m := amqp.QueueDeclare; m <= amqp.QueueUnbind; m++ {
		for flags := amqp.Flags(1); flags != 0; flags <<= 1 {
			line("%s %d: %s", m, flags, amqp.Command{Method: m, Queue: queue, Number: 7, Flags: flags}.Words(names))
		}
		line("%s, all flags: %s", m, amqp.Command{Method: m, Queue: queue, Flags: ^amqp.Flags(0)}.Words(names))
	}
	for _, kind := range []lock.Kind{lock.Semaphore, lock.Mutex, lock.PersistentMutex} {
		for op := lock.Acquire; op <= lock.Wait; op++ {
			e := history.Event{F: history.F(op), Type: history.OK, Slot: 1, Slots: 2}
			line("%s %s: %s, %s", kind, op, invocationWords(e, kind), completionWords(e, kind))
			for e.Held, e.Reason = true, lock.Removed; e.Type <= history.Info; e.Type++ {
				line("%s %s %s, held and removed: %s", kind, op, e.Type, completionWords(e, kind))
			}
		}
		for _, truth := range []monitor.Truth{
			{}, {Exists: 2}, {Taken: 2}, {Exists: 2, Taken: 2, Owner: [monitor.Slots + 1]uint8{1: 2}}, {Exists: 8}, {Taken: 2, Exists: 12},
			{Exists: 6, Taken: 4, Owner: [monitor.Slots + 1]uint8{2: 1 | monitor.HalfOpen}}, {Admin: 3}, {Exists: 2, Admin: 1 | monitor.HalfOpen},
		} {
			line("%s, %b there, %b taken: %s", kind, truth.Exists, truth.Taken, strings.Join(stateWords(&truth, kind), ", "))
		}
	}
	historiestest.Golden(t, "words.txt", said.String())
}

// TestErrors: a client's message about a failed call is listed with its step, and the same message only once. At most
// three messages are listed.
func TestErrors(t *testing.T) {
	trace := historiestest.LockedTaken()
	trace.Errors = map[int]string{1: "no", 0: "never", 2: "no", 3: "\x1b[2J"}
	got := strings.Join(Errors(trace), "\n")
	want := `c1 says of acquire: "never" (step 1)` + "\n" + `c2 says of acquire: "no" (step 2)` + "\n" + `c2 says of acquire: "\x1b[2J" (step 7)`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if trace.Errors[4] = "one more"; strings.Join(Errors(trace), "\n") != want {
		t.Errorf("%d errors are told", len(Errors(trace)))
	}
}

// TestAsked: the text on what a client asked lists the queues that its commands name, whether the commands reached them
// or not.
func TestAsked(t *testing.T) {
	step := func(command, queue string) scenario.TraceStep {
		return scenario.TraceStep{Action: scenario.Action{Kind: scenario.Step, Client: 1}, Command: command, Resource: queue}
	}
	for want, steps := range map[string][]scenario.TraceStep{
		"the broker nothing":                         nil,
		"for no queue":                               {step("channel.open", "")},
		"for jobs-1-A only":                          {step("publish jobs-1-A", "jobs-1-A")},
		"for jobs-1-A and jobs-1-B":                  {step("publish jobs-1-A", "jobs-1-A"), step("publish jobs-1-B", "jobs-1-B")},
		"for jobs-1-A, jobs-1-B and so on up to e":   {step("x", "jobs-1-A"), step("x", "jobs-1-B"), step("x", "c"), step("x", "d"), step("x", "e")},
		"for jobs-1-A, jobs-1-B, jobs-2-A and admin": {step("x", "jobs-1-A"), step("x", "jobs-1-B"), step("x", "jobs-2-A"), step("x", "admin")},
	} {
		d := &causer{decider: decider{Trace: &scenario.Trace{Steps: steps}}}
		if got := d.asked(0, len(steps)-1, 1); got != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
}

// TestSlotWords: a set of slots is written as numbers, and the verb after it is singular or plural accordingly.
func TestSlotWords(t *testing.T) {
	for set, want := range map[uint16][3]string{
		1 << 2:             {"slot 2", "slot 2", "slot 2 was free"},
		1<<1 | 1<<2:        {"slots 1 and 2", "slot 1 or 2", "slots 1 and 2 were free"},
		1<<1 | 1<<2 | 1<<4: {"slots 1, 2 and 4", "slot 1, 2 or 4", "slots 1, 2 and 4 were free"},
	} {
		d := &causer{decider: decider{Trace: &scenario.Trace{History: history.History{Kind: lock.Semaphore}}}}
		if got := [3]string{slots(set), anySlot(set), d.wereFree(set)}; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
