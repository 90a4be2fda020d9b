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
	// Reset begins a scenario: servers without anything, machines that are idle and have no session. The options are those
	// that the target settles for. owner says whose a session is, with [monitor.HalfOpen] if it is half-open.
	Reset(t *lock.Target, s *scenario.Scenario, o lock.Options, owner func(backend.Session) uint8)
	// SetUp makes the slots that the locks begin with. It calls said with each command, while Describe describes it.
	SetUp(said func(backend.Exchange))
	Machines
	Links
	Sessions
	Clock
	Servers
	Footprints
	Coding
	// Describe tells a step of its command and the reply, in words and as they are. It is asked while a trace is kept only.
	Describe(*scenario.TraceStep)
}

// Machines are the clients, as far as their users see them.
type Machines interface {
	// Start begins an operation on an idle machine.
	Start(c uint8, op lock.Op, arg uint8)
	// Op is a client's operation at hand, or the last one.
	Op(c uint8) lock.Op
	// Result is how a client's operation ended, and whether it has.
	Result(c uint8) (lock.Result, bool)
	// Held is the slot that a client believes to hold, 0 for none; Linked says that it believes to have a session.
	Held(c uint8) uint8
	Linked(c uint8) bool
	// Choices is the number of values for a client's random option now, 0 for none. Choose takes one of them, and
	// returns how many milliseconds the client sleeps then.
	Choices(c uint8) int
	Choose(c uint8, way int) (sleep int64)
}

// Links are what takes commands to the servers, and replies back.
type Links interface {
	// Links is the set of a client's links that can go on: bit 0 unless its command waits inside the server.
	Links(c uint8) uint8
	// Answered reports whether a command of the client's that waited has its answer, which Reply hands over.
	Answered(c uint8) bool
	// Opens reports whether a client's next command opens a session.
	Opens(c uint8) bool
	// Deliver has the next command of a client's operation reach the server, on a session; 0 is one that has ended.
	Deliver(c uint8, on backend.Session) backend.Exchange
	// Reply hands a client the reply to its last command. Lose breaks its session instead, from the client's point of
	// view.
	Reply(c uint8)
	Lose(c uint8)
	// Act is one step of a link other than 0. Method is 0 where it sent nothing.
	Act(c, link uint8, on backend.Session) backend.Exchange
}

// Sessions begin, and end by what befalls them.
type Sessions interface {
	// Connect opens a session.
	Connect() backend.Session
	// Rejoin has a client begin again on a session that all clients share ([Footprints]).
	Rejoin(c uint8, on backend.Session)
	// End is the server seeing a session end.
	End(on backend.Session)
	// Abort ends a client's unit of a session for a failure of the server's: an AMQP channel, a transaction.
	Abort(c uint8, on backend.Session)
	// Restart stops a server and starts it again: sessions end.
	Restart()
}

// Clock is the servers' time.
type Clock interface {
	// Advance lets the servers' time pass, and reports whether that changed anything. It stops early if sessions
	// expire, and returns the milliseconds passed; Expired appends the sessions that have expired since the last
	// call.
	Advance(ms int64) (passed int64, changed bool)
	Expired(buf []backend.Session) []backend.Session
	// NextTimer is in how many milliseconds Advance will change something, if ever.
	NextTimer() (int64, bool)
}

// Servers tell what they have.
type Servers interface {
	// Truth is what the servers have of a lock.
	Truth(l uint8, t *monitor.Truth)
	// Owns reports whether a session has an exclusive resource.
	Owns(on backend.Session) bool
	// Leftover describes a wrong state of the servers after the execution; "" if there is none. believed reports
	// whether a live client believes to hold a slot.
	Leftover(believed func(l, s uint8) bool) string
	// Resources are what the servers have, in the order of their first use.
	Resources() []Resource
}

// Footprints tell what an action depends on, for the reductions of a search.
type Footprints interface {
	// Shared says that all clients use one session. Independent says that a client's actions depend on other clients
	// only by their views (see [System.Independent]).
	Shared() bool
	Independent() bool
	// Touches are the resources that a client's next command touches: of its current operation or, if idle, of next.
	Touches(c uint8, next *scenario.Operation) backend.Footprint
	// Writes are the roles of the resources that a client may still change, by its operations and by losing its
	// sessions other than safe. dead: it runs no more operations.
	Writes(c uint8, dead bool, rest []scenario.Operation, safe backend.Session) backend.Roles
}

// Coding writes and reads the state, in parts.
type Coding interface {
	// Clear is Reset for reading a state: of machines and servers nothing is left, what a scenario decides stays.
	Clear()
	// CodeShared writes or reads the part of the servers that belongs to no session. CodeClient is a machine, also a
	// dead one. CodeSession is a session with its resources. CodeOwned writes the part of a session that other
	// clients can see.
	CodeShared(*codec.Coder)
	CodeClient(c *codec.Coder, n uint8)
	CodeSession(*codec.Coder, backend.Session)
	CodeOwned(*codec.Coder, backend.Session)
	// Left is how many sessions the servers go on with after their end. CodeShared has them: when it reads, they take the
	// numbers after the clients'.
	Left() int
	// Normalise clears the part of a client's machine that can make no more difference.
	Normalise(c uint8, dead, busy bool, on backend.Session)
}

// Renewing is a [Cluster] whose commands that extend a lease may wait.
type Renewing interface {
	// Renewed reports whether the answer that client c has just got is that of a command that has extended its lease.
	Renewed(c uint8) bool
}

// Hindering is a [Cluster] whose server refuses a command if another client has locked its resource. An acquire may
// give up once its attempts are used up.
type Hindering interface {
	// Hindered reports whether the answer that client c has just got is such a refusal.
	Hindered(c uint8) bool
}

// Answering is a [Cluster] that tells traces of the answer to a command that waited, as well, once its client has it.
type Answering interface {
	DescribeAnswer(*scenario.TraceStep)
}
