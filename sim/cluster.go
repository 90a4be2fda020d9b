package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// Cluster joins the machines of one execution's clients with their servers. A world sees a backend only through it:
// commands and replies stay inside, and the world receives their description ([backend.Exchange]).
//
// Clients are numbered from 1. A session is a unit that the server ends at once, with every hold on it: an AMQP
// connection, a connection to a database, a lease. The cluster numbers the sessions. The world knows which client
// owns each session, and which are half-open.
//
// A client has links. Link 0 is its operation, which sends commands ([Links.Deliver]) and receives their replies
// ([Links.Reply]). The others are activities beside it, such as renewing a lease or receiving an unsolicited
// message ([Links.Act]). A command that waits inside the server is answered [backend.Blocked]. The client continues
// once another client's step, or time, has produced the reply ([Links.Links]); it may die before.
type Cluster interface {
	// Reset begins a scenario with empty servers and idle machines without sessions. The options o are the final ones
	// of the target. owner returns the client that owns a session, with [monitor.HalfOpen] if it is half-open.
	Reset(t *lock.Target, s *scenario.Scenario, o lock.Options, owner func(backend.Session) uint8)
	// SetUp makes the initial slots of the locks. It calls said with each command; during the call, Describe
	// describes it.
	SetUp(said func(backend.Exchange))
	Machines
	Links
	Sessions
	Clock
	Servers
	Footprints
	Coding
	// Describe adds the last command and its reply to a step of a trace, in words and as raw values. It is called
	// only while a trace is kept.
	Describe(*scenario.TraceStep)
}

// Machines are the clients, as their users see them.
type Machines interface {
	// Start begins an operation on an idle machine.
	Start(c uint8, op lock.Op, arg uint8)
	// Op is a client's current operation, or else its last one.
	Op(c uint8) lock.Op
	// Result is the result of a client's operation, and whether the operation has ended.
	Result(c uint8) (lock.Result, bool)
	// Held is the slot that a client believes it holds, 0 for none; Linked says that it believes it has a session.
	Held(c uint8) uint8
	Linked(c uint8) bool
	// Choices is the number of values that the client's random option has now, 0 if it has none to choose. Choose
	// takes one of them, and returns the number of milliseconds that the client then sleeps.
	Choices(c uint8) int
	Choose(c uint8, way int) (sleep int64)
}

// Links take commands to the servers, and replies back.
type Links interface {
	// Links is the set of a client's links that can go on. It has bit 0 unless the client's command waits inside the
	// server.
	Links(c uint8) uint8
	// Answered reports whether the reply to a client's waiting command is ready. Reply hands it over.
	Answered(c uint8) bool
	// Opens reports whether a client's next command opens a session.
	Opens(c uint8) bool
	// Deliver delivers the next command of a client's operation on a session; 0 is a session that has ended.
	Deliver(c uint8, on backend.Session) backend.Exchange
	// Reply hands a client the reply to its last command. Lose instead breaks its session, as the client sees it.
	Reply(c uint8)
	Lose(c uint8)
	// Act is one step of a link other than 0. The exchange's Method is 0 if the step sends nothing.
	Act(c, link uint8, on backend.Session) backend.Exchange
}

// Sessions begin and end on the servers.
type Sessions interface {
	// Connect opens a session.
	Connect() backend.Session
	// Rejoin makes a client start over on a session that all clients share ([Footprints]).
	Rejoin(c uint8, on backend.Session)
	// End tells the server that a session has ended.
	End(on backend.Session)
	// Abort ends a client's unit of a session (an AMQP channel, a transaction) because of an error in the server.
	Abort(c uint8, on backend.Session)
	// Restart stops a server and starts it again, which ends sessions.
	Restart()
}

// Clock is the servers' time.
type Clock interface {
	// Advance lets the servers' time pass, and reports whether that changed anything. It stops early if sessions
	// expire, and returns the milliseconds passed; Expired appends the sessions that have expired since the last
	// call.
	Advance(ms int64) (passed int64, changed bool)
	Expired(buf []backend.Session) []backend.Session
	// NextTimer is the number of milliseconds until Advance changes something, and whether there is such a time.
	NextTimer() (int64, bool)
}

// Servers give their state.
type Servers interface {
	// Truth fills in the servers' state of lock l.
	Truth(l uint8, t *monitor.Truth)
	// Owns reports whether a session owns an exclusive resource.
	Owns(on backend.Session) bool
	// Leftover describes wrong state that the execution leaves on the servers, "" if there is none. believed reports
	// whether a live client believes it holds slot s of lock l.
	Leftover(believed func(l, s uint8) bool) string
	// Resources are the servers' resources, in the order of their first use.
	Resources() []Resource
}

// Footprints say what an action depends on, for the reductions of a search.
type Footprints interface {
	// Shared says that all clients use one session. Independent says that a client's actions depend on other clients
	// only through their views (see [System.Independent]).
	Shared() bool
	Independent() bool
	// Touches are the resources that a client's next command touches. The command is one of its current operation or,
	// if the client is idle, of next.
	Touches(c uint8, next *scenario.Operation) backend.Footprint
	// Writes are the roles of the resources that a client may still change: by its current operation and those of
	// rest, unless it is dead, and by losing any of its sessions except safe.
	Writes(c uint8, dead bool, rest []scenario.Operation, safe backend.Session) backend.Roles
}

// Coding writes and reads the state, in parts.
type Coding interface {
	// Clear prepares for reading a state. It resets machines and servers, and keeps what the scenario determines.
	Clear()
	// CodeShared writes or reads the part of the servers that belongs to no session. CodeClient writes or reads a
	// machine, including a dead client's. CodeSession does so for a session with its resources. CodeOwned writes the
	// part of a session that other clients can see.
	CodeShared(*codec.Coder)
	CodeClient(c *codec.Coder, n uint8)
	CodeSession(*codec.Coder, backend.Session)
	CodeOwned(*codec.Coder, backend.Session)
	// Left is the number of sessions that have ended but that the servers still keep. CodeShared includes them; when
	// it reads, it numbers them after the clients' sessions.
	Left() int
	// Normalise clears the part of a client's machine that can no longer make a difference.
	Normalise(c uint8, dead, busy bool, on backend.Session)
}

// Renewing is a [Cluster] in which a command that extends a lease may wait inside the server.
type Renewing interface {
	// Renewed reports whether the reply that client c has just received is to a command that has extended its lease.
	Renewed(c uint8) bool
}

// Hindering is a [Cluster] whose server refuses a command if another client has locked the resource. An acquire may
// give up once its attempts are used up.
type Hindering interface {
	// Hindered reports whether the reply that client c has just received is such a refusal.
	Hindered(c uint8) bool
}

// Answering is a [Cluster] that also describes, in traces, the reply to a command that has waited, once the client
// has it.
type Answering interface {
	DescribeAnswer(*scenario.TraceStep)
}
