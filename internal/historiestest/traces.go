package historiestest

import (
	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/property"
	"github.com/lockproof/lockproof/model/scenario"
)

// script builds a trace by hand; each call of a method adds a step.
type script struct {
	scenario.Trace
	names  *amqp.Names
	layout *amqplock.Layout
	truth  monitor.Truth
	now    int64
}

func newScript(target string, kind lock.Kind, slots uint8, clients ...[]scenario.Operation) *script {
	s := &script{}
	s.names = &amqp.Names{}
	s.layout = amqplock.NewLayout(s.names, amqplock.Names, "jobs", 4)
	s.Scenario = scenario.Scenario{
		Target: target, Options: amqplock.DefaultOptions(), Locks: []scenario.Lock{{Name: "jobs", Slots: slots}},
		Schedule: scenario.Schedule{Strategy: scenario.Replay},
	}
	for _, ops := range clients {
		s.Scenario.Clients = append(s.Scenario.Clients, scenario.Client{Ops: ops})
	}
	s.History = history.History{Kind: kind, Locks: []string{"jobs"}, Slots: []int{int(slots)}}
	for slot := 1; slot <= int(slots); slot++ {
		s.truth.Exists |= 1 << slot
	}
	s.Setup = append(s.Setup, scenario.TraceStep{Truth: [2]monitor.Truth{s.truth}})
	return s
}

// do adds a step: an action, a command (or none) with its reply, and the events that it caused.
func (s *script) do(a scenario.Action, c amqp.Command, r amqp.Reply, events ...history.Event) {
	s.Scenario.Schedule.Actions = append(s.Scenario.Schedule.Actions, a)
	s.now += int64(a.Arg)
	sent := amqp.Sent{Command: c, Reply: r, Names: s.names}
	s.Steps = append(s.Steps, scenario.TraceStep{
		Action: a, Time: s.now, Exchange: c.Exchange(r, true), Command: c.Words(s.names), Reply: r.Words(), Resource: sent.Resource(), Payload: sent,
		First: len(s.History.Events), Events: len(events), Truth: [2]monitor.Truth{s.truth},
	})
	s.History.Events = append(s.History.Events, events...)
}

func (s *script) step(client uint8, c amqp.Command, r amqp.Reply, events ...history.Event) {
	s.do(scenario.Action{Kind: scenario.Step, Client: client}, c, r, events...)
}

func (s *script) probe(q amqp.Queue) amqp.Command {
	return amqp.Command{Method: amqp.BasicPublish, Queue: q, Flags: amqp.Mandatory}
}

func (s *script) claim(slot int) amqp.Command {
	return amqp.Command{Method: amqp.QueueDeclare, Queue: s.layout.B[slot], Flags: amqp.Exclusive}
}

func (s *script) grant(slot int, client uint8) {
	s.truth.Taken &^= 1 << slot
	if client != 0 {
		s.truth.Taken |= 1 << slot
	}
	s.truth.Owner[slot] = client
}

var (
	ack     = amqp.Reply{Kind: amqp.Ack}
	noRoute = amqp.Reply{Kind: amqp.Ack, Code: amqp.NoRoute, Returned: 1}
	okay    = amqp.Reply{Kind: amqp.OK}
	locked  = amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.ResourceLocked}
)

func begin(client int32, op lock.Op) history.Event {
	return history.Event{Process: client, Type: history.Invoke, F: history.F(op)}
}

func end(client int32, op lock.Op, typ history.EventType, slot uint16, held bool, reason lock.Reason) history.Event {
	return history.Event{Process: client, Type: typ, F: history.F(op), Slot: slot, Held: held, Reason: reason}
}

func ops(list ...lock.Op) (out []scenario.Operation) {
	for _, op := range list {
		out = append(out, scenario.Operation{Op: op})
	}
	return out
}

// LockedTaken is an execution of a client that takes the error RESOURCE_LOCKED for success, so that two clients hold
// one slot.
func LockedTaken() *scenario.Trace {
	s := newScript("resource-locked-is-success", lock.Semaphore, 1, ops(lock.Acquire, lock.Verify), ops(lock.Acquire))
	s.step(1, s.probe(s.layout.A[1]), ack, begin(1, lock.Acquire))
	s.step(2, s.probe(s.layout.A[1]), ack, begin(2, lock.Acquire))
	s.step(2, s.probe(s.layout.B[1]), noRoute)
	s.step(1, s.probe(s.layout.B[1]), noRoute)
	s.grant(1, 1)
	s.step(1, s.claim(1), okay)
	s.step(1, s.probe(s.layout.A[1]), ack, end(1, lock.Acquire, history.OK, 1, true, 0))
	s.step(2, s.claim(1), locked, end(2, lock.Acquire, history.OK, 1, true, 0))
	s.Violations = []scenario.Violation{{Step: 6, Violation: property.Violation{
		Property: property.MutualExclusion, Client: 2, Other: 1, Slot: 1,
	}}}
	return &s.Trace
}

// NotAwaited is an execution with a release that does not wait for its reply. The release has no effect, because the
// broker has closed the channel.
func NotAwaited() *scenario.Trace {
	s := newScript("release-without-waiting", lock.Semaphore, 1, ops(lock.Acquire, lock.Release))
	s.grant(1, 1)
	s.step(1, s.claim(1), okay, begin(1, lock.Acquire), end(1, lock.Acquire, history.OK, 1, true, 0))
	s.do(scenario.Action{Kind: scenario.ChannelError, Client: 1}, amqp.Command{}, amqp.Reply{})
	s.step(1, amqp.Command{Method: amqp.QueueDelete, Queue: s.layout.B[1]}, amqp.Reply{}, begin(1, lock.Release), end(1, lock.Release, history.OK, 1, false, 0))
	s.Violations = []scenario.Violation{{Step: 2, Violation: property.Violation{Property: property.EffectiveRelease, Client: 1, Slot: 1}}}
	return &s.Trace
}

// Faults is an execution with one fault of every kind.
func Faults() *scenario.Trace {
	s := newScript("semaphore", lock.Semaphore, 2,
		ops(lock.Acquire, lock.Verify), ops(lock.Acquire, lock.Release), []scenario.Operation{{Op: lock.Remove, Arg: 1}, {Op: lock.Count}})
	s.step(1, s.probe(s.layout.A[1]), ack, begin(1, lock.Acquire))
	s.grant(1, 1|monitor.HalfOpen)
	s.do(scenario.Action{Kind: scenario.CrashEffect, Client: 1, Late: true}, s.claim(1), okay, history.Event{Process: history.Nemesis, F: history.Crash, Target: 1, Type: history.Info})
	s.step(2, s.probe(s.layout.A[1]), ack, begin(2, lock.Acquire))
	s.step(2, s.claim(1), locked)
	s.do(scenario.Action{Kind: scenario.Choose, Client: 2, Arg: 1}, amqp.Command{}, amqp.Reply{})
	s.do(scenario.Action{Kind: scenario.Pause, Client: 2, Arg: 500}, amqp.Command{}, amqp.Reply{})
	remove := begin(3, lock.Remove)
	remove.Slots = 1
	s.truth.Admin = 3
	s.step(3, amqp.Command{Method: amqp.QueueDeclare, Queue: s.layout.Admin, Flags: amqp.Exclusive}, okay, remove)
	s.truth.Exists = 1 << 1
	s.step(3, amqp.Command{Method: amqp.QueueDelete, Queue: s.layout.A[2]}, okay)
	s.truth.Admin = 0
	s.do(scenario.Action{Kind: scenario.Lose, Client: 3}, amqp.Command{Method: amqp.QueueDelete, Queue: s.layout.Admin}, okay, end(3, lock.Remove, history.Info, 0, false, lock.TimedOut))
	s.grant(1, 0)
	s.do(scenario.Action{Kind: scenario.Detect, Client: 1}, amqp.Command{}, amqp.Reply{}, history.Event{Process: history.Nemesis, F: history.Gone, Target: 1, Type: history.Info})
	s.grant(1, 2)
	s.step(2, s.claim(1), okay, end(2, lock.Acquire, history.OK, 1, true, 0))
	s.grant(1, 0)
	s.do(scenario.Action{Kind: scenario.Drop, Client: 2}, amqp.Command{}, amqp.Reply{})
	count := end(3, lock.Count, history.OK, 0, false, 0)
	count.Slots = 1
	s.step(3, s.probe(s.layout.A[1]), ack, begin(3, lock.Count), count)
	s.do(scenario.Action{Kind: scenario.Restart}, amqp.Command{}, amqp.Reply{})
	s.step(2, amqp.Command{Method: amqp.QueueDelete, Queue: s.layout.B[1]}, amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ConnectionForced},
		begin(2, lock.Release), end(2, lock.Release, history.Info, 1, false, lock.Disconnected))
	s.do(scenario.Action{Kind: scenario.Advance, Arg: 1000}, amqp.Command{}, amqp.Reply{})
	s.Violations = []scenario.Violation{{Step: len(s.Steps), Violation: property.Violation{
		Property: property.NoLeak, Detail: "the queue jobs-1-A is left behind"}}}
	return &s.Trace
}

// Mutex is an execution of a true mutex, which has one queue and no slot numbers.
func Mutex() *scenario.Trace {
	s := newScript("mutex", lock.Mutex, 1, ops(lock.Acquire, lock.Release), ops(lock.Acquire))
	claim := amqp.Command{Method: amqp.QueueDeclare, Queue: s.layout.Mutex, Flags: amqp.Exclusive}
	s.grant(1, 1)
	s.step(1, claim, okay, begin(1, lock.Acquire), end(1, lock.Acquire, history.OK, history.AnySlot, true, 0))
	s.step(2, s.probe(s.layout.Mutex), ack, begin(2, lock.Acquire), end(2, lock.Acquire, history.Fail, 0, false, lock.Full))
	s.grant(1, 0)
	s.step(1, amqp.Command{Method: amqp.QueueDelete, Queue: s.layout.Mutex}, okay, begin(1, lock.Release), end(1, lock.Release, history.OK, 0, false, 0))
	return &s.Trace
}

// Crowd is an execution with more clients than fit on a terminal's line.
func Crowd() *scenario.Trace {
	var clients [][]scenario.Operation
	for range 8 {
		clients = append(clients, ops(lock.Acquire))
	}
	s := newScript("semaphore", lock.Semaphore, 4, clients...)
	for c := uint8(1); c <= 8; c++ {
		slot := int(c+1) / 2
		s.step(c, s.probe(s.layout.A[slot]), ack, begin(int32(c), lock.Acquire))
		if c%2 == 0 {
			s.step(c, s.claim(slot), locked, end(int32(c), lock.Acquire, history.Fail, 0, false, lock.GaveUp))
			continue
		}
		s.grant(slot, c)
		s.step(c, s.claim(slot), okay, end(int32(c), lock.Acquire, history.OK, uint16(slot), true, 0))
	}
	return &s.Trace
}
