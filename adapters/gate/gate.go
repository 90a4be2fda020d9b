package gate

import (
	"errors"
	"time"

	"github.com/lockproof/lockproof/model/backend"
	"github.com/lockproof/lockproof/model/holding"
	"github.com/lockproof/lockproof/model/scenario"
)

// Gate decides when commands reach the server, and when replies reach the clients.
//
// Its methods are called by the goroutines of connections and must not block. A gate that wants to wait keeps its argument
// and calls the argument's Pass, Send and so on later, from any goroutine. It may also call them at once. Calls for a
// client's acts on one connection (Opened, Arrived, ClientGone) come one at a time, in their order. So do calls for the
// server's acts (Answered, ServerGone). A call of either kind may come during one of the other.
//
// Client and server learn separately of a connection's end. If a client dies unnoticed, ClientGone is called, and the gate
// calls [Conn.Release] only later. If the server drops a connection and the client does not know, the gate calls Release
// alone, and [Conn.Cut] or [Conn.HangUp] later.
type Gate interface {
	// Opened is called when a client has connected, before anything is read from it.
	Opened(Conn)
	// Arrived is called for every complete command of a client, except for those that open a connection and mean nothing
	// to anybody else.
	Arrived(Command)
	// Answered is called for everything that the server says.
	Answered(Answer)
	// ClientGone is called when nothing more will arrive: the client has closed its socket, died, or is cut off; the error
	// is [ErrExcess] or [ErrProtocol] then. The server does not know until [Conn.Release] is called.
	ClientGone(Conn, error)
	// ServerGone is called when the server has ended the connection, after all its replies. The client does not know until
	// [Conn.HangUp] or [Conn.Cut] is called.
	ServerGone(Conn)
}

// ErrExcess is, somewhere in it, the error of a client that was cut off because it took more than it may.
var ErrExcess = errors.New("more than a bound allows")

// ErrProtocol is, somewhere in it, the error of a client that was cut off because it speaks another protocol than the server.
var ErrProtocol = errors.New("it speaks another protocol")

// Conn is a client's connection. One connection is always the same value.
type Conn interface {
	// Open reports whether the server has the connection from the beginning; otherwise a command opens it.
	Open() bool
	// Cut closes the client's socket at once. Unwritten output is lost.
	Cut()
	// HangUp closes the client's socket when everything that was sent is written.
	HangUp()
	// Farewell answers a client that says goodbye on a connection of which the server knows nothing any more, and hangs up.
	Farewell(Command)
	// Release has the server see the end of the connection. Commands of it that pass from now on go nowhere.
	Release()
	// Behind reports whether the client has written something, or closed its socket, and the gate has not seen it yet. The
	// gate then calls caughtUp once it has, holding no locks, unless the next call replaces it.
	Behind(caughtUp func()) bool
	// Parts are the sessions within the connection, such as AMQP's channels; 0 where there are none.
	Parts() int
	// Break has the server end the part on which a command came, or, without a command, the last one, as soon as the
	// client uses it. A server whose connections have no parts does nothing.
	Break(Command)
	// Mend takes back a Break that the client has not seen yet.
	Mend()
	// Renew begins a run: what traces number in a connection is numbered anew.
	Renew()
}

// Role is what a command does to its connection.
type Role uint8

const (
	Plain      Role = iota
	Opens           // the server has the connection from then on
	Closes          // the client says goodbye
	ClosesPart      // the client ends a part of its connection
)

// Command is a client's command at the gate. One command is always the same value.
type Command interface {
	Conn() Conn
	// Endpoint is the server that it goes to, by its place among the addresses' URLs, where there are several; otherwise 0.
	Endpoint() int
	// Number counts the connection's commands from 1, in the order in which they arrived.
	Number() uint64
	Role() Role
	// Pipelined reports whether the client sent the command while an earlier one of the connection had no reply yet.
	Pipelined() bool
	// Replies reports whether the server answers with something that the client waits for.
	Replies() bool
	// MayChange reports whether the command may change what the server has of a lock.
	MayChange() bool
	// IsNext reports whether everything has passed that the client had sent before and that has to pass before.
	IsNext() bool
	// Obsolete reports whether its connection, or its part of it, has ended since, so that it comes to nothing.
	Obsolete() bool
	// Broken reports whether the part on which it came is to end instead; see [Conn.Break].
	Broken() bool
	// Pass lets the command through to the server. When it returns, the command has taken effect or waits at the server,
	// and its reply is on its way to [Gate.Answered]. Passing twice, or before IsNext, panics.
	Pass()
	// Waits reports whether it has passed and the server keeps it waiting: its reply comes when somebody else's command, or time,
	// brings it about.
	Waits() bool
	// Refuse has the part end on which the command came. The command never reaches the server.
	Refuse()
	// Discard drops the command. It never reaches the server, and the client never sees a reply.
	Discard()
	// Exchange begins the exchange of the command and its reply, which traces show.
	Exchange() Exchange
	// Payload is the command in the terms of its server's model.
	Payload() any
}

// Exchange is a command that leaves the gate, and its reply.
type Exchange interface {
	// Answer takes in the reply; nil is that there was none. fault says that a fault has broken the command's part.
	Answer(a Answer, fault bool)
	// Disconnect has the reply be that the connection is gone.
	Disconnect()
	// EndsConnection reports whether the exchange ends its connection, and whether that is the client's doing.
	EndsConnection() (ends, byClient bool)
	// EndsPart reports whether the exchange ends a part of its connection, and whether a fault has done that.
	EndsPart() (ends, fault bool)
	// Cost is the exchange as promises are judged by it.
	Cost() backend.Exchange
	// Describe notes the command and its reply in a step.
	Describe(step *scenario.TraceStep)
}

// Answer is something that the server says to a client.
type Answer interface {
	Conn() Conn
	// Asked reports whether it answers any command: if not, the server says it unasked.
	Asked() bool
	// Settled is how many commands it answers, and Settles whether a command is one of them.
	Settled() int
	Settles(Command) bool
	// Ends reports whether it ends the connection.
	Ends() bool
	// Voids reports whether a command at the gate comes to nothing because of it.
	Voids(Command) bool
	// Send sends it to the client. scheduled says that a schedule decides: it may then be kept back, to be sent with the
	// next one, where a server does such a thing now and then.
	Send(scheduled bool)
	// Lose forgets it. The client sees a reply that never comes.
	Lose()
}

// Address is where one client finds the server.
type Address interface {
	// URLs are the addresses as clients want them, one for each server: a lock may stand on several.
	URLs() ([]string, error)
	// Counts is what has gone over its connections so far.
	Counts() Counts
	// Close ends all its connections without a goodbye.
	Close() error
}

// Watched is an Address that knows of what never waits at the gate.
type Watched interface {
	Address
	// Underway reports whether something of the client's is on its way that never waits at the gate: a connection that is being made,
	// a command that passes by itself and has no reply yet, or bytes that it was sent and has not received.
	Underway() bool
}

// Limits bound what one client may take.
type Limits struct {
	Connections int           // at once
	Handshake   time.Duration // until a connection is there
}

// Server is a server behind the gate, real or simulated.
type Server interface {
	// Listen opens an address for one client.
	Listen(Gate, Limits) (Address, error)
	// Endpoints is how many servers there are. Commands of one client to several of them may pass in any order.
	Endpoints() int
	// Prefix begins the names of all locks that are made there, so that they are nobody else's.
	Prefix() string
	// Ours reports whether time passes on the server when we say so.
	Ours() bool
	// Plays reports whether the server lets a fault happen.
	Plays(scenario.ActionKind) bool
	// Advance lets virtual milliseconds pass, if its time is ours.
	Advance(ms int64)
	// Restart stops it and starts it again, if that is ours to do.
	Restart()
	// Begin begins a run, whose locks have names that contain a part of their own. What is there by now is none of its.
	Begin(part string)
	// Items are what clients have made since the run began, by name.
	Items() []Item
	// Canonical is the name of an item in traces: it is the same in every run.
	Canonical(item string) string
	// Words are what an item is called, and what its amount is called.
	Words() (item, amount string)
	// Holders are who holds a lock of so many slots, by what its user has declared. client is whose a connection is; 0 is
	// nobody's who plays.
	Holders(d holding.Declared, lock string, slots int, client func(Conn) uint8) []holding.Hold
	// Crowds reports whether clients make items whose names have nothing to do with their locks', so that those of another
	// run on the same server would be in their way.
	Crowds() bool
	// Remove deletes items that clients have made and that no connection of theirs has for itself.
	Remove(items []string) error
	// Disagreement is how a real server first did something else than the simulated one beside it, "" where it did not or
	// there is none; Agreed is how many replies were compared and equal.
	Disagreement() string
	Agreed() int
	// Close deletes what clients have left there, and stops what was started for it.
	Close() error
}

// Stated is a Server whose state can be told.
type Stated interface {
	Server
	// State is equal for equal states: what the server does from there on depends on it alone, and on whose connections are
	// whose. client is whose a connection is. It is not whole where something is left out.
	State(client func(Conn) uint8) (state string, whole bool)
}

// Unseen is a Server of which something is not known that others tell.
type Unseen interface {
	Server
	// Unseen says in a sentence what is not known.
	Unseen() string
}

// Item is something that clients have made on a server: a queue, a key.
type Item struct {
	Name   string
	Amount int   // of what is in it
	Owner  Conn  // that alone has it; nil where that is nobody
	Lasts  int64 // the virtual milliseconds after which it has expired, once nobody uses it; 0 is for ever
}
