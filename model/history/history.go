package history

import (
	"errors"

	"github.com/lockproof/lockproof/model/lock"
)

// ErrOnce is the error if a history has to be read twice, but comes from a source that can be read only once.
var ErrOnce = errors.New("it cannot be read again: expected a file")

// EventType is the type of an event, in Jepsen's terms.
type EventType uint8

// The types of events, as in Jepsen: invocation, success, certain failure, and unknown outcome. Events of the
// environment have the type Info.
const (
	Invoke EventType = iota
	OK
	Fail
	Info
)

var eventTypeNames = [...]string{"invoke", "ok", "fail", "info"}

// String is Jepsen's word for the type.
func (t EventType) String() string { return eventTypeNames[t] }

// EventTypeNamed returns the type with that name, and whether there is one.
func EventTypeNamed(name string) (EventType, bool) {
	for t, n := range eventTypeNames {
		if n == name {
			return EventType(t), true
		}
	}
	return 0, false
}

// F is what an event is about, as in Jepsen: an operation of a client, or an event of the environment. An operation has
// the same number as its [lock.Op].
type F uint8

// Events of the environment, such as faults. They have the process [Nemesis] and the type Info. They also limit how
// late an unanswered acquire can take effect.
const (
	Crash   F = 64 + iota // the client of process Target died
	Gone                  // the broker closed the connection of process Target: its exclusive queues are gone
	Restart               // the broker restarted: every connection and every exclusive queue is gone
	Pause                 // process Target was paused
	Other                 // an event that does not matter for locks, kept so that other events keep their indexes
	// Lapse is the end of process Target's lease by the server's clock. From then on the server may grant the slot to
	// another client. The holder may also have renewed the lease before the server did so.
	Lapse
	// Audit begins an audit. Earlier faults and operations are over, and the server has noticed dead clients. From here
	// on only one client at a time is active.
	Audit
	// Faults of the nodes (machines) of a cluster of servers. Their names are those of Jepsen's tests.
	Cut           // messages from the nodes Nodes do not arrive at the nodes To
	Heal          // all messages arrive everywhere again
	KillNode      // the nodes Nodes were killed
	TerminateNode // the nodes Nodes were shut down cleanly
	StartNode     // the nodes Nodes were started again, and accept clients
	PauseNode     // the nodes Nodes are paused
	ResumeNode    // the nodes Nodes continue
	// Lost says that the client of process Target reported, without a call, that it has lost the lock. From then on it
	// does not believe that it holds it.
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

// FNamed returns the function with that name, and whether there is one.
func FNamed(name string) (F, bool) {
	for f, n := range worldNames {
		if n == name {
			return f, true
		}
	}
	op, ok := lock.OpNamed(name)
	return F(op), ok
}

// Whose reports whether the event concerns one client, in Target, rather than all clients.
func (f F) Whose() bool {
	return f.Occurrence() && f != Restart && f != Other && f != Audit && !f.Machine()
}

// Machine reports whether the event is a fault of a cluster's nodes, or the end of such a fault.
func (f F) Machine() bool { return f >= Cut && f <= ResumeNode }

// Occurrence reports whether the event belongs to the environment rather than to an operation.
func (f F) Occurrence() bool {
	_, ok := worldNames[f]
	return ok
}

// Op is the operation of the event, or [lock.NoOp] for an event of the environment.
func (f F) Op() lock.Op {
	if f >= Crash {
		return lock.NoOp
	}
	return lock.Op(f)
}

// Nemesis is the process number of the environment, as in Jepsen.
const Nemesis = -1

// MaxToken is the largest fencing token: the largest integer that a JSON number can hold exactly.
const MaxToken = 1<<53 - 1

// AnySlot means that an event names no slot. Jepsen's mutexes and semaphores have permits instead of numbered slots.
const AnySlot = 0

// Event is an invocation, a completion, or an event of the environment. The events of one process alternate between
// invocation and completion. If the last invocation has no completion, the call never returned.
//
// A process is one connection of one client. As in Jepsen, a client that reconnects gets a new process number. The
// event Gone therefore ends one connection, with its holds. The processes of client c of n are c, c+n, c+2n and so on.
// Imported histories may number processes freely.
type Event struct {
	Time    int64 // nanoseconds since the start of the run; virtual time in simulations
	Process int32 // process number from 1 (imported histories may have 0), or Nemesis
	Target  int32 // process concerned by Crash, Gone, Pause, Lapse or Lost
	Lock    uint16
	Slot    uint16 // slot acquired, verified, refreshed, released or waited for; or AnySlot
	Slots   uint16 // create, add, remove, count: number of slots; acquire: its caller's limit
	Type    EventType
	F       F
	Reason  lock.Reason
	Held    bool // acquire, verify and refresh: the answer was yes
	// Shared says that an acquire or a release concerns read mode, in which many clients may hold the lock at once.
	Shared bool
	// Permits is the number of permits that an acquire takes or a release returns; 0 if not stated.
	Permits uint16
	// Priority is the priority that the caller of an acquire states. Only the invocation has it.
	Priority uint8
	// Nodes are the cluster's nodes that a fault concerns. To are the nodes to which a Cut blocks their messages.
	Nodes, To Nodes
	// Token is the fencing token of a granted acquire; 0 is none.
	Token int64
}

// History is what the clients of a run observed. Events are in real-time order; no two are at the same moment.
type History struct {
	Kind  lock.Kind
	Locks []string // names of the locks, indexed by Event.Lock
	Slots []int    // by lock number: the number of slots before the first event
	// GoneLate says that a Gone event has the time at which somebody noticed the end of a crashed client's connection.
	// The broker then freed its slots one by one at unknown moments between the Crash and the Gone. Without GoneLate,
	// the broker freed them at the Gone.
	GoneLate bool
	// GoneMayFree says that the lock's design is unknown, so that the end of a connection or channel may free its slots
	// or not. A process is then a client with all its connections, and Gone is the end of one of these, or of a
	// channel. Without GoneMayFree, Gone frees the slots.
	GoneMayFree bool
	// Clients is the number of clients, if processes are numbered as [Event] says; texts then name clients. With 0,
	// texts name processes.
	Clients int
	// Steps are, for each event, the number of the execution's step that caused it, from 1; 0 is no step. Texts then
	// name these steps. If Steps is nil, texts name the indexes of events.
	Steps []int32
	// Called are names of processes for readers, by process number. Places say, by event, where the source has the
	// event. If nil, texts use numbers.
	Called, Places []string
	Events         []Event
}
