package history

import (
	"errors"

	"github.com/lockproof/lockproof/model/lock"
)

// ErrOnce is the error of reading a history again that can be read only once.
var ErrOnce = errors.New("it cannot be read again: expected a file")

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

// Events of the environment have the process [Nemesis] and the type Info. They are the evidence that bounds an
// unanswered acquire.
const (
	Crash   F = 64 + iota // client Target died
	Gone                  // the broker saw client Target's connection die: its exclusive queues are gone
	Restart               // the broker restarted: every connection and every exclusive queue is gone
	Pause                 // client Target stood still
	Other                 // an event without meaning for a lock; it keeps its place among the events
	// Lapse is the end of client Target's lease, by the server's clock. From here on another client may be granted
	// its slot, or the holder may have refreshed it late.
	Lapse
	// Audit is where an audit begins: faults and operations are over, the server has noticed what is dead, and from here to the
	// end one client after the other is at work.
	Audit
	// Faults of machines: nodes of a cluster of servers. They are named as in Jepsen's tests.
	Cut           // what the nodes Nodes send does not arrive at the nodes To
	Heal          // everything arrives everywhere again
	KillNode      // the nodes Nodes ended without a chance to do anything
	TerminateNode // they were ended in good order
	StartNode     // they were started again, and take clients
	PauseNode     // they stand still
	ResumeNode    // they go on
	// Lost is that client Target tells, unasked, that it has lost what it held of the lock: it does not believe to hold it any more.
	Lost
)

var worldNames = map[F]string{Crash: "crash", Gone: "gone", Restart: "restart", Pause: "pause", Other: "other", Lapse: "lapse", Audit: "audit",
	Cut: "start-partition", Heal: "stop-partition", KillNode: "kill-node", TerminateNode: "terminate-node",
	StartNode: "start-node", PauseNode: "pause-node", ResumeNode: "resume-node", Lost: "lost"}

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

// Whose reports whether it happened to a client, and not to all.
func (f F) Whose() bool {
	return f.Occurrence() && f != Restart && f != Other && f != Audit && !f.Machine()
}

// Machine reports whether it is a fault of machines, or the end of one.
func (f F) Machine() bool { return f >= Cut && f <= ResumeNode }

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

// Event is an invocation, a completion, or an event of the environment. The events of one process alternate between
// invocation and completion; one without completion never returned.
//
// A process is one connection of one client: a client that reconnects continues as a new process, as in Jepsen. Gone
// therefore ends one connection and its holds. Client c of n is process c, then c+n, c+2n and so on; imported
// histories have any numbers.
type Event struct {
	Time    int64 // nanoseconds since the beginning of the run; virtual in simulations
	Process int32 // the client's number, from 1 (0 is allowed in imported histories); or Nemesis
	Target  int32 // of Crash, Gone, Pause, Lapse and Lost: the client
	Lock    uint16
	Slot    uint16 // the slot acquired, verified, refreshed, released or waited for; AnySlot if unknown
	Slots   uint16 // create, add, remove, count: the number of slots; acquire: its caller's limit
	Type    EventType
	F       F
	Reason  lock.Reason
	Held    bool // acquire, verify and refresh: the answer was yes
	// Shared says that an acquire or a release is of a lock to read, which many may hold at once.
	Shared bool
	// Permits is how many permits an acquire takes, or a release gives back; 0 does not say.
	Permits uint16
	// Priority is, of the invocation of an acquire, that which its caller states.
	Priority uint8
	// Nodes are, of faults of machines, the nodes that they befell. To are those that a Cut separates them from.
	Nodes, To Nodes
	// Token is the fencing token of a granted acquire; 0 is none.
	Token int64
}

// History is a run as its clients saw it. Events are in real-time order: an event's index is its
// place, and no two happen at once.
type History struct {
	Kind  lock.Kind
	Locks []string // the names that Event.Lock numbers
	Slots []int    // by lock: how many slots there were before the first event
	// GoneLate says that Gone is recorded when the end of a crashed client's connection was noticed from outside. The
	// broker ended it at moments since the Crash, slot by slot. Otherwise it ended at that event.
	GoneLate bool
	// GoneMayFree says that the design of the lock is not known: the end of a connection or channel may free its
	// process's slots or not. A process is then a client with all its connections, and Gone is the end of one
	// connection or channel. Otherwise Gone frees the slots.
	GoneMayFree bool
	// Clients is the number of clients if processes are numbered as [Event] says; texts then name clients. 0 is
	// unknown; texts then name processes.
	Clients int
	// Steps are those of the execution, from 1, in which the events happened, where it is shown step by step. People
	// are told of them, instead of the numbers of events. 0 is no step; nil where there are none.
	Steps []int32
	// Called are, by process, the names by which people know it, and Places, by event, where they find it. nil where
	// these are the numbers.
	Called, Places []string
	Events         []Event
}
