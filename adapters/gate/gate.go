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
// Its methods are called by the goroutines of connections and must not block. A gate that wants to delay something keeps the
// argument and calls the argument's Pass, Send and so on later, from any goroutine. It may also call them at once. Calls for
// a client's acts on one connection (Opened, Arrived, ClientGone) do not overlap, and come in the order of the acts. So do
// calls for the server's acts (Answered, ServerGone). A call of either kind may overlap with one of the other kind.
//
// Client and server learn separately of a connection's end. If a client dies unnoticed, ClientGone is called, and the gate
// calls [Conn.Release] only later. If the server drops a connection without the client's knowledge, the gate calls Release,
// and calls [Conn.Cut] or [Conn.HangUp] later.
type Gate interface {
	// Opened is called when a client has connected, before anything is read from it.
	Opened(Conn)
	// Arrived is called for every complete command of a client. Commands that open a connection and affect no other client
	// are left out.
	Arrived(Command)
	// Answered is called for everything that the server sends.
	Answered(Answer)
	// ClientGone is called when nothing more will arrive: the client has closed its socket, has died, or was cut off, in
	// which case the error is [ErrExcess] or [ErrProtocol]. The server does not know until [Conn.Release] is called.
	ClientGone(Conn, error)
	// ServerGone is called when the server has ended the connection, after all its replies. The client does not know until
	// [Conn.HangUp] or [Conn.Cut] is called.
	ServerGone(Conn)
}

// ErrExcess is wrapped by the error of a client that was cut off because it exceeded a bound.
var ErrExcess = errors.New("more than a bound allows")

// ErrProtocol is wrapped by the error of a client that was cut off because it speaks another protocol than the server.
var ErrProtocol = errors.New("it speaks another protocol")

// Conn is a client's connection. A connection is always represented by the same value.
type Conn interface {
	// Open reports whether the server has the connection from the beginning. If not, a command opens it; see [Opens].
	Open() bool
	// Cut closes the client's socket at once. Unwritten output is lost.
	Cut()
	// HangUp closes the client's socket after all output is written.
	HangUp()
	// Farewell answers a command that closes a connection which the server no longer has, and closes the client's socket.
	Farewell(Command)
	// Release lets the server see the end of the connection. Commands of the connection that pass after that have no
	// effect.
	Release()
	// Behind reports whether the client has written something, or closed its socket, and the gate has not seen that yet. If
	// so, caughtUp is called once the gate has seen it, without holding locks, unless a later call of Behind replaces it.
	Behind(caughtUp func()) bool
	// Parts is the number of sessions within the connection, such as AMQP's channels; 0 if connections have no parts.
	Parts() int
	// Break makes the server end a part of the connection as soon as the client uses it. That is the part that the
	// command belongs to or, if the command is nil, the last part. If connections have no parts, Break does nothing.
	Break(Command)
	// Mend cancels a Break that has not taken effect yet.
	Mend()
	// Renew begins a run: numbers that traces show, such as delivery tags, restart.
	Renew()
}

// Role is what a command does to its connection.
type Role uint8

const (
	Plain      Role = iota
	Opens           // the server has the connection only from this command on
	Closes          // the client closes the connection
	ClosesPart      // the client closes a part of the connection
)

// Command is a client's command at the gate. A command is always represented by the same value.
type Command interface {
	Conn() Conn
	// Endpoint returns the index of the server that receives the command, among the URLs of the client's [Address]; 0
	// if there is only one server.
	Endpoint() int
	// Number is the number of the command in its connection, from 1, in order of arrival.
	Number() uint64
	Role() Role
	// Pipelined reports whether the client sent the command while an earlier command of the connection had no reply yet.
	Pipelined() bool
	// Replies reports whether the server sends a reply that the client waits for.
	Replies() bool
	// MayChange reports whether the command may change the state of a lock on the server.
	MayChange() bool
	// IsNext reports whether all commands that must pass before this one have passed.
	IsNext() bool
	// Obsolete reports whether the command's connection, or its part of the connection, has ended since the command
	// arrived. Then the command has no effect.
	Obsolete() bool
	// Broken reports whether the server will end the command's part of the connection instead of carrying out the
	// command; see [Conn.Break].
	Broken() bool
	// Pass lets the command through to the server. When Pass returns, the command has taken effect or waits at the server,
	// and its reply is on its way to [Gate.Answered]. Pass panics if it is called twice, or before IsNext is true.
	Pass()
	// Waits reports whether the command has passed and the server keeps it waiting. The reply comes after a command of
	// another client, or when time passes.
	Waits() bool
	// Refuse ends the command's part of the connection. The command never reaches the server.
	Refuse()
	// Discard drops the command. It never reaches the server, and the client never sees a reply.
	Discard()
	// Exchange starts recording the command and its reply, for traces.
	Exchange() Exchange
	// Payload returns the command in the form of the server's model.
	Payload() any
}

// Exchange is a command that leaves the gate, and its reply.
type Exchange interface {
	// Answer records the reply; nil if there is none. fault is true if a fault has ended the command's part of the
	// connection.
	Answer(a Answer, fault bool)
	// Disconnect records that the connection ended before a reply.
	Disconnect()
	// EndsConnection reports whether the exchange ends its connection, and whether the client caused that.
	EndsConnection() (ends, byClient bool)
	// EndsPart reports whether the exchange ends a part of its connection, and whether a fault caused that.
	EndsPart() (ends, fault bool)
	// Cost returns what the exchange contributes to an operation's cost, such as round trips.
	Cost() backend.Exchange
	// Describe records the command and its reply in step.
	Describe(step *scenario.TraceStep)
}

// Answer is a message from the server, at the gate.
type Answer interface {
	Conn() Conn
	// Asked reports whether the answer replies to a command. Otherwise the server sends it unasked.
	Asked() bool
	// Settled is the number of commands that the answer replies to. Settles reports whether a command is one of them.
	Settled() int
	Settles(Command) bool
	// Ends reports whether the connection ends with the answer.
	Ends() bool
	// Voids reports whether the answer makes a waiting command void, so that it must not pass any more.
	Voids(Command) bool
	// Send sends the answer to the client. scheduled is true if a schedule decides what happens. If so, and if servers
	// of this kind sometimes send two answers as one, Send may hold the answer back until the next one is sent.
	Send(scheduled bool)
	// Lose drops the answer, so that the client never receives it.
	Lose()
}

// Address is where one client connects to the servers.
type Address interface {
	// URLs are the addresses in the form that clients expect, one for each server: a lock may be spread over several.
	URLs() ([]string, error)
	// Counts counts what has gone over the address's connections so far.
	Counts() Counts
	// Close ends all connections of the address abruptly.
	Close() error
}

// Watched is an Address that knows of data on its way that never waits at the gate.
type Watched interface {
	Address
	// Underway reports whether data of the client is on its way and bypasses the gate: a connection that is being made, a
	// command that passes by itself and has no reply yet, or bytes that were sent to the client and not received.
	Underway() bool
}

// Limits bound the resources of one client.
type Limits struct {
	Connections int           // maximum number of simultaneous connections
	Handshake   time.Duration // maximum time to establish a connection
}

// Server is a server behind the gate, real or simulated.
type Server interface {
	// Listen opens an address for one client.
	Listen(Gate, Limits) (Address, error)
	// Endpoints is the number of servers. Commands of one client to several servers may pass in any order.
	Endpoints() int
	// Prefix is the text with which the names of the runs' locks begin, so that other programs on the server do not
	// use the same names. It is "" if no others use the server.
	Prefix() string
	// Ours reports whether the server's time is virtual, so that Advance lets it pass.
	Ours() bool
	// Plays reports whether the server supports a fault, such as a restart.
	Plays(scenario.ActionKind) bool
	// Advance lets ms milliseconds of virtual time pass, if the server has virtual time.
	Advance(ms int64)
	// Restart stops the server and starts it again, if lockproof started it.
	Restart()
	// Begin begins a run. The names of its locks contain part. Items that exist already do not belong to the run.
	Begin(part string)
	// Items are the items that clients have created since the run began, by name.
	Items() []Item
	// Canonical is the name of an item in traces, which is the same in every run.
	Canonical(item string) string
	// Words are the words for an item and for its amount.
	Words() (item, amount string)
	// Holders returns who holds a lock with the given number of slots. d is the user's declaration of what on the
	// server shows that, for example that the owner of queue jobs-1 holds slot 1. client returns the client of a
	// connection; 0 if the connection belongs to no client of the run.
	Holders(d holding.Declared, lock string, slots int, client func(Conn) uint8) []holding.Hold
	// Crowds reports whether two runs on the same server would disturb each other, because clients create items whose
	// names do not contain the names of their locks.
	Crowds() bool
	// Remove deletes items that clients have created and that are not exclusive to a connection.
	Remove(items []string) error
	// Disagreement describes the first difference between a real server and the simulated one beside it. It is "" if there
	// was no difference or there is no simulated one. Agreed is the number of replies that were compared and equal.
	Disagreement() string
	Agreed() int
	// Close deletes what clients have left on the server, and stops everything that lockproof started for it.
	Close() error
}

// Stated is a Server that can return its state, so that equal states are found.
type Stated interface {
	Server
	// State describes the server's state; equal states have equal descriptions. client returns the client of a
	// connection, by which the description names the connection. If whole is false, the server's behaviour also
	// depends on state that is not described.
	State(client func(Conn) uint8) (state string, whole bool)
}

// Sessional is a Server that ends the session of a client that it has not heard of for a while. What a client has ends
// with its session, and nothing else ends by itself.
type Sessional interface {
	Server
	// LongestSession is the maximum number of virtual milliseconds for which a session lasts after the server has last
	// heard of its client.
	LongestSession() int64
}

// Unseen is a Server that does not reveal something which other servers reveal, such as its keys.
type Unseen interface {
	Server
	// Unseen returns a sentence about what the server does not reveal.
	Unseen() string
}

// Item is something that clients have created on a server, such as a queue or a key.
type Item struct {
	Name   string
	Amount int   // size of its contents, for example the number of a queue's messages
	Owner  Conn  // the only connection that may use the item; nil if there is no such connection
	Lasts  int64 // virtual milliseconds without use after which the item expires; 0 means never
}
