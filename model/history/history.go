package history

import (
	"errors"

	"github.com/lockproof/lockproof/model/lock"
)

// ErrOnce is the error of reading a history again that can be read only once.
var ErrOnce = errors.New("it cannot be read again: expected a file")

// EventType is the type of an event, in Jepsen's terms.
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

// F is the function of an event: an operation of a client, or an occurrence in the environment. The operations have
// the numbers of [lock.Op].
type F uint8

// Occurrences have the process [Nemesis] and the type Info. They limit how late an unanswered acquire can take
// effect.
const (
	Crash   F = 64 + iota // process Target's client died
	Gone                  // the broker saw process Target's connection die: its exclusive queues are gone
	Restart               // the broker restarted: every connection and every exclusive queue is gone
	Pause                 // process Target was paused
	Other                 // an event without meaning for a lock; it keeps its place among the events
	// Lapse is the end of process Target's lease by the server's clock. From here on another client may be granted
	// the slot; or the holder may have refreshed the lease late.
	Lapse
	// Audit begins an audit: faults and operations are over, the server has noticed dead clients, and from here to
	// the end only one client at a time is active.
	Audit
	// Faults of machines, which are the nodes of a cluster of servers. They are named as in Jepsen's tests.
	Cut           // messages from the nodes Nodes do not arrive at the nodes To
	Heal          // all messages arrive everywhere again
	KillNode      // the nodes Nodes were killed
	TerminateNode // the nodes Nodes were shut down cleanly
	StartNode     // the nodes Nodes were started again, and accept clients
	PauseNode     // the nodes Nodes are paused
	ResumeNode    // the nodes Nodes continue
	// Lost says that process Target's client reports, unasked, that it has lost the lock and stops believing in its
	// hold.
	Lost
)

var worldNames = map[F]string{Crash: "crash", Gone: "gone", Restart: "restart", Pause: "pause", Other: "other", Lapse: "lapse", Audit: "audit",
	Cut: "start-partition", Heal: "stop-partition", KillNode: "kill-node", TerminateNode: "terminate-node",
	StartNode: "start-node", PauseNode: "pause-node", ResumeNode: "resume-node", Lost: "lost"}

// String is the name of the function in histories.
func (f F) String() string {
	if name, ok := worldNames[f]; ok {
		return name
	}
	return lock.Op(f).String()
}

// FNamed is the function with that name.
func FNamed(name string) (F, bool) {
	for f, n := range worldNames {
		if n == name {
			return f, true
		}
	}
	op, ok := lock.OpNamed(name)
	return F(op), ok
}

// Whose reports whether the occurrence concerns one client, not all.
func (f F) Whose() bool {
	return f.Occurrence() && f != Restart && f != Other && f != Audit && !f.Machine()
}

// Machine reports whether it is a fault of machines, or the end of such a fault.
func (f F) Machine() bool { return f >= Cut && f <= ResumeNode }

// Occurrence reports whether it is an occurrence rather than an operation.
func (f F) Occurrence() bool {
	_, ok := worldNames[f]
	return ok
}

// Op is the operation, or [lock.NoOp] for an occurrence.
func (f F) Op() lock.Op {
	if f >= Crash {
		return lock.NoOp
	}
	return lock.Op(f)
}

// Nemesis is the process of occurrences.
const Nemesis = -1

// MaxToken is the largest fencing token: the largest integer that a JSON number can hold exactly.
const MaxToken = 1<<53 - 1

// AnySlot is the slot of an acquire or release in a history that does not name slots: Jepsen's mutexes and semaphores
// have permits, not numbered slots.
const AnySlot = 0

// Event is an invocation, a completion, or an occurrence in the environment. The events of one process alternate
// between invocation and completion; an invocation without completion never returned.
//
// A process is one connection of one client: a client that reconnects continues as a new process, as in Jepsen. Gone
// therefore ends one connection and its holds. The processes of client c of n are c, c+n, c+2n and so on; imported
// histories may number them freely.
type Event struct {
	Time    int64 // nanoseconds since the beginning of the run; virtual in simulations
	Process int32 // one session of a client, from 1 (imported histories may use 0); or Nemesis
	Target  int32 // of Crash, Gone, Pause, Lapse and Lost: the process concerned
	Lock    uint16
	Slot    uint16 // the slot acquired, verified, refreshed, released or waited for; AnySlot if unknown
	Slots   uint16 // create, add, remove, count: the number of slots; acquire: its caller's limit
	Type    EventType
	F       F
	Reason  lock.Reason
	Held    bool // acquire, verify and refresh: the answer was yes
	// Shared says that an acquire or a release is of a lock in read mode, which many clients may hold at once.
	Shared bool
	// Permits is the number of permits that an acquire takes, or a release gives back; 0 is unstated.
	Permits uint16
	// Priority is the priority that the caller of an acquire states, in its invocation.
	Priority uint8
	// Nodes are the nodes that a fault of machines concerns. To are the nodes that a Cut separates them from.
	Nodes, To Nodes
	// Token is the fencing token of a granted acquire; 0 is none.
	Token int64
}

// History is a run as its clients saw it. Events are in real-time order by index; no two are simultaneous.
type History struct {
	Kind  lock.Kind
	Locks []string // the names that Event.Lock numbers
	Slots []int    // by lock: the number of slots before the first event
	// GoneLate says that Gone records when the end of a crashed client's connection was noticed from outside. The
	// broker then released the slots one by one at unknown moments since the Crash. Otherwise it released them at the
	// Gone.
	GoneLate bool
	// GoneMayFree says that the design of the lock is unknown: the end of a connection or channel may free its
	// process's slots or not. A process is then a client with all its connections, and Gone is the end of one
	// connection or channel. Otherwise Gone frees the slots.
	GoneMayFree bool
	// Clients is the number of clients, if processes are numbered as [Event] says; texts then name clients. If it is
	// 0, texts name processes.
	Clients int
	// Steps are, by event, the steps of the execution in which the events happened, counted from 1. If set, texts
	// name these steps instead of the indexes of events. 0 is no step.
	Steps []int32
	// Called are the names of processes for readers, and Places are the places of events in the source. If nil, the
	// numbers serve as names.
	Called, Places []string
	Events         []Event
}
