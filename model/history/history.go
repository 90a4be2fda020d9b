package history

import "github.com/lockproof/lockproof/model/lock"

// EventType is the type of a history's event, in Jepsen's words.
type EventType uint8

// The types of events.
const (
	Invoke EventType = iota
	OK
	Fail
	Info
)

var eventTypeNames = [...]string{"invoke", "ok", "fail", "info"}

// String is Jepsen's word for the type.
func (t EventType) String() string { return eventTypeNames[t] }

// EventTypeNamed is the type with that name.
func EventTypeNamed(name string) (EventType, bool) {
	for t, n := range eventTypeNames {
		if n == name {
			return EventType(t), true
		}
	}
	return 0, false
}

// F is what an event is about: an operation of a client, or something that happened to the world.
// The operations have the numbers of [lock.Op].
type F uint8

// What can happen to the world; such events have the process [Nemesis] and the type Info. They are
// the evidence by which an unanswered acquire stops explaining anything.
const (
	Crash   F = 64 + iota // client Target died
	Gone                  // the broker saw client Target's connection die: its exclusive queues are gone
	Restart               // the broker restarted: every connection and every exclusive queue is gone
	Pause                 // client Target stood still
	Other                 // something that means nothing to a lock; it has its place among the events
	// Lapse is the end of the lease of what client Target holds, by the server's clock: from here on it may be granted to
	// somebody else, or its holder may have refreshed it late.
	Lapse
)

var worldNames = map[F]string{Crash: "crash", Gone: "gone", Restart: "restart", Pause: "pause", Other: "other", Lapse: "lapse"}

// String is the name in histories.
func (f F) String() string {
	if name, ok := worldNames[f]; ok {
		return name
	}
	return lock.Op(f).String()
}

// FNamed is the operation or occurrence with that name.
func FNamed(name string) (F, bool) {
	for f, n := range worldNames {
		if n == name {
			return f, true
		}
	}
	op, ok := lock.OpNamed(name)
	return F(op), ok
}

// Occurrence reports whether it is one of those above, and no operation.
func (f F) Occurrence() bool {
	_, ok := worldNames[f]
	return ok
}

// Op is the operation, or [lock.NoOp] for an occurrence of the world.
func (f F) Op() lock.Op {
	if f >= Crash {
		return lock.NoOp
	}
	return lock.Op(f)
}

// Nemesis is the process of events that no client made.
const Nemesis = -1

// MaxToken is the largest fencing token: what a number of JSON can say exactly.
const MaxToken = 1<<53 - 1

// AnySlot is the slot of an acquire or release whose history does not say which one: Jepsen's mutexes
// and semaphores have permits, not numbered slots.
const AnySlot = 0

// Event is an invocation, a completion, or an occurrence. Events of one process alternate between
// invocation and completion; one without completion never returned.
//
// A process is one connection of one client: a client that connects again goes on as a new process,
// as in Jepsen, so that Gone means one connection and what was held on it. Client c of n is process
// c, then c+n, c+2n and so on; imported histories number as they like.
type Event struct {
	Time    int64 // nanoseconds since the beginning of the run; virtual in simulations
	Process int32 // the client's number, from 1 (0 is allowed in imported histories); or Nemesis
	Target  int32 // of Crash, Gone, Pause and Lapse: the client
	Lock    uint16
	Slot    uint16 // the slot acquired, verified, refreshed, released or waited for; AnySlot if not told
	Slots   uint16 // create, add, remove: how many (invocation); count: how many (completion); acquire: the limit that its caller states (invocation)
	Type    EventType
	F       F
	Reason  lock.Reason
	Held    bool // acquire, verify and refresh: the answer was yes
	// Priority is, of the invocation of an acquire, that which its caller states.
	Priority uint8
	// Token is, of an acquire that was told yes, the fencing token that came with it; 0 is none.
	Token int64
}

// History is a run as its clients saw it. Events are in real-time order: an event's index is its
// place, and no two happen at once.
type History struct {
	Kind  lock.Kind
	Locks []string // the names that Event.Lock numbers
	Slots []int    // by lock: how many slots there were before the first event
	// GoneLate says that Gone is when the end of a crashed client's connection was seen, from outside:
	// the broker ended it at moments since the Crash, slot by slot. Left out, it did so just then.
	GoneLate bool
	// GoneMayFree says that the design of the lock is not known: the end of a connection, or of one of its
	// channels, may free what its process holds, and need not. A process is then a client, whatever it has
	// connected and however often, and Gone is the end of one of its connections or channels. Left out, Gone
	// frees.
	GoneMayFree bool
	// Clients is how many clients there are, where processes are numbered as [Event] says: then people are told of
	// clients. 0 is not known, and they are told of processes.
	Clients int
	// Steps are those of the execution, from 1, in which the events happened, where it is shown step by step. People
	// are told of them, instead of the numbers of events. 0 is no step; nil where there are none.
	Steps  []int32
	Events []Event
}
