package sim

import (
	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/codec"
	"github.com/lockproof/lockproof/model/lock"
	"github.com/lockproof/lockproof/model/monitor"
	"github.com/lockproof/lockproof/model/scenario"
)

// Cluster joins the machines of an execution's clients with their servers. The simulation uses a backend only through
// this interface. Commands and replies stay inside it; the simulation receives a description of each
// ([backend.Exchange]).
//
// Clients are numbered from 1. A session is a unit that the server ends as a whole, with every hold on it: an AMQP
// connection, a connection to a database, a lease. The cluster numbers the sessions. The simulation knows which client
// owns each session, and which sessions are half-open.
//
// A client has links. Link 0 is its operation, which sends commands ([Links.Deliver]) and receives their replies
// ([Links.Reply]). The other links are activities beside the operation, such as renewing a lease or receiving an
// unsolicited message ([Links.Act]). A command that waits inside the server has the result [backend.Blocked]. Another
// client's step, or the passing of time, can produce its reply ([Links.Links]). Then the client continues; it may also
// die before.
type Cluster interface {
	// Reset begins a scenario with empty servers, and with idle machines that have no sessions. o has the target's
	// final options. owner returns the client that owns a session, with [monitor.HalfOpen] set if the session is
	// half-open.
	Reset(t *lock.Target, s *scenario.Scenario, o lock.Options, owner func(backend.Session) uint8)
	// SetUp makes the initial slots of the locks. It calls said with each command. During such a call, Describe
	// describes this command.
	SetUp(said func(backend.Exchange))
	Machines
	Links
	Sessions
	Clock
	Servers
	Footprints
	Coding
	// Describe adds the last command and its reply to a step of a trace, as text and as raw values. It is called only
	// while a trace is recorded.
	Describe(*scenario.TraceStep)
}

// Machines are the clients as state machines, as seen by their users.
type Machines interface {
	// Start invokes an operation on an idle machine.
	Start(c uint8, op lock.Op, arg uint8)
	// Op returns a client's current operation or, if it is idle, its last one.
	Op(c uint8) lock.Op
	// Result returns the result of a client's operation, and whether the operation has ended.
	Result(c uint8) (lock.Result, bool)
	// Held returns the slot that a client believes it holds; 0 means none. Linked reports whether the client believes
	// that it has a session.
	Held(c uint8) uint8
	Linked(c uint8) bool
	// Choices returns the number of values that the client can choose from for a random option now; 0 if there is
	// nothing to choose. Choose makes the client take value i, and returns for how many milliseconds the client then
	// sleeps.
	Choices(c uint8) int
	Choose(c uint8, way int) (sleep int64)
}

// Links carry commands to the servers and replies back to the clients.
type Links interface {
	// Links returns the set of a client's links that can take a step. Bit 0 is set unless the client's command waits
	// inside the server.
	Links(c uint8) uint8
	// Answered reports whether the reply to a client's waiting command is ready. Reply gives it to the client.
	Answered(c uint8) bool
	// Opens reports whether a client's next command opens a new session.
	Opens(c uint8) bool
	// Deliver sends the next command of a client's operation on a session. Session 0 is one that has ended.
	Deliver(c uint8, on backend.Session) backend.Exchange
	// Reply gives a client the reply to its last command. Lose drops the reply, and makes the client see its session as
	// broken.
	Reply(c uint8)
	Lose(c uint8)
	// Act takes one step of a link other than 0. The exchange's Method is 0 if the step sends no command.
	Act(c, link uint8, on backend.Session) backend.Exchange
}

// Sessions can begin and end on the servers.
type Sessions interface {
	// Connect opens a session.
	Connect() backend.Session
	// Rejoin makes a client start over on the session that all clients share, see [Footprints].
	Rejoin(c uint8, on backend.Session)
	// End makes the server end a session.
	End(on backend.Session)
	// Abort makes the server end a client's unit of a session, such as an AMQP channel or a transaction, because of an
	// error.
	Abort(c uint8, on backend.Session)
	// Restart stops the servers and starts them again, which ends sessions.
	Restart()
}

// Clock is the servers' clock.
type Clock interface {
	// Advance lets up to ms milliseconds of the servers' time pass. It stops early if a session expires. It returns the
	// milliseconds that have passed, and whether anything has changed. Expired appends the sessions that have expired
	// since its last call.
	Advance(ms int64) (passed int64, changed bool)
	Expired(buf []backend.Session) []backend.Session
	// NextTimer returns the number of milliseconds until Advance changes something, and whether there is such a moment.
	NextTimer() (int64, bool)
}

// Servers report their state.
type Servers interface {
	// Truth stores the servers' state of lock l in t.
	Truth(l uint8, t *monitor.Truth)
	// Owns reports whether a session owns an exclusive resource.
	Owns(on backend.Session) bool
	// Leftover describes what is wrong in the state that an execution leaves on the servers; "" if nothing is. believed
	// reports whether a live client believes it holds slot s of lock l.
	Leftover(believed func(l, s uint8) bool) string
	// Resources returns the servers' resources, in the order of their first use.
	Resources() []Resource
}

// Footprints says what an action depends on. The reductions of a search use it.
type Footprints interface {
	// Shared reports whether all clients use one session. Independent reports whether a client's actions depend on
	// other clients only through their visible state (see [System.Independent]).
	Shared() bool
	Independent() bool
	// Touches returns the resources that a client's next command reads or writes. The command belongs to the current
	// operation or, if the client is idle, to next.
	Touches(c uint8, next *scenario.Operation) backend.Footprint
	// Writes returns the roles of the resources that a client may still change: by its current operation and those of
	// rest, unless it is dead, and by losing any of its sessions other than safe.
	Writes(c uint8, dead bool, rest []scenario.Operation, safe backend.Session) backend.Roles
}

// Coding writes and reads the state, divided into parts.
type Coding interface {
	// Clear resets machines and servers before a state is read. It keeps what the scenario determines.
	Clear()
	// CodeShared writes or reads the servers' state that belongs to no session. CodeClient does so for a machine, even
	// of a dead client. CodeSession does so for a session and its resources. CodeOwned writes the part of a session
	// that other clients can see.
	CodeShared(*codec.Coder)
	CodeClient(c *codec.Coder, n uint8)
	CodeSession(*codec.Coder, backend.Session)
	CodeOwned(*codec.Coder, backend.Session)
	// Left returns the number of sessions that have ended, but of which the servers still store something. CodeShared
	// includes them. When it reads them, it gives them numbers after those of the clients' sessions.
	Left() int
	// Normalise clears the part of a client's machine that can no longer make a difference.
	Normalise(c uint8, dead, busy bool, on backend.Session)
}

// Renewing is a [Cluster] in which a command that extends a lease may wait inside the server.
type Renewing interface {
	// Renewed reports whether the reply that client c has just received belongs to a command that has extended its
	// lease.
	Renewed(c uint8) bool
}

// Hindering is a [Cluster] whose server may refuse a command because another client has locked the resource for a
// moment. Such refusals may use up the attempts of an acquire, which then fails.
type Hindering interface {
	// Hindered reports whether the reply that client c has just received is such a refusal, made because another client
	// has locked the resource.
	Hindered(c uint8) bool
}

// Reaching is a [Cluster] in which an action of one client may change a queue, a consumer or a channel of another, and
// not only the state of the lock.
type Reaching interface {
	// Reached reports whether that may have happened since the last call.
	Reached() bool
}

// Answering is a [Cluster] that adds a late reply to a trace: if a command has waited in the server, the step in which
// the client receives the reply describes it.
type Answering interface {
	DescribeAnswer(*scenario.TraceStep)
}
