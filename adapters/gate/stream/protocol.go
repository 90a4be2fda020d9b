package stream

import (
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/backend"
)

// Protocol is the protocol between clients and a kind of server.
type Protocol interface {
	// Session returns the parser for a new connection.
	Session() Session
}

// Unknown is a [Protocol] for servers whose protocol is not known. Everything that a client writes without a pause is
// one command.
type Unknown interface {
	Protocol
	// Shown returns a function that describes a command in words.
	Shown(command []byte) func(n *Names) string
}

// Session parses the bytes of one connection. Its methods are not called concurrently.
type Session interface {
	// Command parses the first command of b, which is what the client has written. n is the command's length in
	// bytes, 0 if it is incomplete.
	Command(b []byte) (c Sent, n int, err error)
	// Reply parses the first reply of b, which is what the server has sent. n is its length in bytes, 0 if it is
	// incomplete. settles is the number of commands that it answers, the oldest unanswered first; 0 if the server
	// sends it unasked.
	Reply(b []byte) (r Said, n, settles int, err error)
	// Greets reports whether the server has yet to send a greeting, before which the client sends nothing.
	Greets() bool
	// Listens reports whether the server may send a message that no command asked for.
	Listens() bool
}

// Sent is a command that a client has sent.
type Sent struct {
	Name    string // name of the command in counts, such as SET
	Role    gate.Role
	Replies bool
	// Passes means that the command does not affect other clients, and passes the gate without waiting.
	Passes bool
	// Call is the command's number, in protocols whose servers may answer out of order; otherwise 0. Commands with
	// such a number that do not wait at the gate overtake those that do.
	Call uint64
	// Instead are the bytes to send to the server in place of what the client wrote; nil sends what the client wrote.
	Instead []byte
	// Cancels is the number of the call that this command cancels, so that its answer never comes; 0 if it cancels
	// none.
	Cancels uint64
	// Aside means that the bytes are not a command but belong to the protocol itself. They go to the server at once
	// or, if the command of the same Call waits at the gate, together with it.
	Aside     bool
	MayChange bool
	// Words returns a one-line description of the command, with names and values as traces show them.
	Words func(n *Names) string
	// Key is the first item that the command is about; "" if there is none.
	Key    string
	Access backend.Access
}

// Said is a message that a server has sent.
type Said struct {
	Words  func(n *Names) string
	Result backend.Result
	Ends   bool   // the connection ends after this message
	Call   uint64 // number of the call that the message answers; 0 if commands have no numbers
	// Instead are the bytes to send to the client in place of what the server sent; nil sends what the server sent.
	Instead []byte
	Aside   bool // the message belongs to the protocol itself, and goes to the client without waiting
}
