package history

import "github.com/lockproof/lockproof/model/lock"

// A history knows a client by a process. Its number changes with each session, since the holds of a session end with
// the session. The first sessions of n clients are processes 1 to n, the second n+1 to 2n, and so on (as Jepsen
// numbers the processes that replace crashed ones).

// Process is the process number of a client's session. client and session count from 1; clients is the number of
// clients.
func Process(client, session int32, clients int) int32 { return client + (session-1)*int32(clients) }

// ClientOf is the client of a process that is not [Nemesis], counted from 1. clients is the number of clients.
func ClientOf(process int32, clients int) int { return (int(process)-1)%clients + 1 }

// Invocation is a process's call of an operation on lock l. arg is the number of slots for create, add and remove,
// and the slot for verify, refresh, release and wait. For an acquire it is the limit or priority that the caller
// states, depending on the lock's traits.
func Invocation(process int32, l uint8, op lock.Op, arg uint8, traits lock.Traits) Event {
	e := Event{Process: process, Lock: uint16(l), Type: Invoke, F: F(op)}
	switch op {
	case lock.Verify, lock.Refresh, lock.Release, lock.Wait:
		e.Slot = uint16(arg)
	case lock.Acquire:
		if traits.Has(lock.Priorities) {
			e.Priority = arg
		} else {
			e.Slots = uint16(arg)
		}
	case lock.Create, lock.Add, lock.Remove:
		e.Slots = uint16(arg)
	}
	return e
}

// completions are event types by outcome. An operation that is still pending may have happened or not.
var completions = [...]EventType{lock.Pending: Info, lock.Done: OK, lock.Failed: Fail, lock.Unknown: Info}

// Completion is the completion of a process's operation.
func Completion(process int32, l uint8, op lock.Op, r lock.Result) Event {
	return Event{
		Process: process, Lock: uint16(l), Type: completions[r.Outcome], F: F(op),
		Slot: uint16(r.Slot), Slots: uint16(r.Slots), Held: r.Held, Reason: r.Reason,
	}
}

// Occurrence is an event in the environment that concerns a process, or all.
func Occurrence(f F, process int32) Event {
	return Event{Process: Nemesis, Target: process, Type: Info, F: f}
}
