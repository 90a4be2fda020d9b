package stream

import (
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/backend"
)

// Protocol is the protocol between clients and a kind of server.
type Protocol interface {
	// Session begins a connection.
	Session() Session
}

// Unknown is a protocol that is not known: everything that a client writes without a pause is one command.
type Unknown interface {
	Protocol
	// Shown describes a command in words.
	Shown(command []byte) func(n *Names) string
}

// Session is one connection as its protocol sees it. The methods are called one at a time.
type Session interface {
	// Command parses the first command at the beginning of b, what the client has written. n is its length in bytes, 0 while
	// it is incomplete.
	Command(b []byte) (c Sent, n int, err error)
	// Reply parses the first reply at the beginning of b, what the server has sent. settles is the number of commands that
	// it answers, the oldest unanswered first; 0 is a message that the server sends unasked.
	Reply(b []byte) (r Said, n, settles int, err error)
	// Greets reports whether the server is still to send a greeting, before which the client sends nothing.
	Greets() bool
	// Listens reports whether the server may send a message that no command asked for.
	Listens() bool
}

// Sent is a command.
type Sent struct {
	Name    string // of the command in counts, such as SET
	Role    gate.Role
	Replies bool
	// Passes says that the command affects no other client, and passes without waiting at the gate.
	Passes bool
	// Call is the command's number in protocols that may answer commands out of order; 0 is none. Commands that pass by
	// themselves then overtake those that wait at the gate.
	Call uint64
	// Instead are the bytes that the server receives; nil is what the client wrote.
	Instead []byte
	// Cancels is the number of a call that will no longer be answered.
	Cancels uint64
	// Aside says that these bytes are not a command but belong to the protocol itself. They go to the server at once or, if
	// the command of the same Call waits at the gate, together with it.
	Aside     bool
	MayChange bool
	// Words describe the command in a line, with names and values as traces have them.
	Words func(n *Names) string
	// Key is the first item that the command is about; "" is none.
	Key    string
	Access backend.Access
}

// Said is a message of the server.
type Said struct {
	Words  func(n *Names) string
	Result backend.Result
	Ends   bool   // the connection ends after it
	Call   uint64 // number of the call that it answers, if commands have numbers
	// Instead are the bytes that the client receives; nil is what the server sent.
	Instead []byte
	Aside   bool // it belongs to the protocol itself, and goes to the client at once
}
