package history

import "github.com/lockproof/lockproof/model/lock"

// A history numbers processes, as Jepsen does: a process is one session of a client, since a session's holds end with
// it. The first sessions of n clients are the processes 1 to n, their second sessions n+1 to 2n, and so on.

// Process is the process number of a client's session. client and session count from 1; clients is the number of
// clients.
func Process(client, session int32, clients int) int32 { return client + (session-1)*int32(clients) }

// ClientOf is the client of a process that is not [Nemesis], counted from 1. clients is the number of clients.
func ClientOf(process int32, clients int) int { return (int(process)-1)%clients + 1 }

// Invocation is the event of a process that invokes an operation on lock number l. arg is the number of slots for
// create, add and remove, and the slot for verify, refresh, release and wait. For an acquire it is the limit or
// priority that the caller states, depending on the lock's traits.
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

// completions are the types of completion events by outcome. A pending operation has the type Info, since its outcome
// is unknown.
var completions = [...]EventType{lock.Pending: Info, lock.Done: OK, lock.Failed: Fail, lock.Unknown: Info}

// Completion is the event of a process whose operation on lock number l ends with the result r.
func Completion(process int32, l uint8, op lock.Op, r lock.Result) Event {
	return Event{
		Process: process, Lock: uint16(l), Type: completions[r.Outcome], F: F(op),
		Slot: uint16(r.Slot), Slots: uint16(r.Slots), Held: r.Held, Reason: r.Reason,
	}
}

// Occurrence is an event of the environment, such as a crash. process is the process that the event concerns, if it
// concerns a single one.
func Occurrence(f F, process int32) Event {
	return Event{Process: Nemesis, Target: process, Type: Info, F: f}
}
