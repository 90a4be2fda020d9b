package stream

import (
	"github.com/lockproof/lockproof/adapters/gate"
	"github.com/lockproof/lockproof/model/backend"
)

// Protocol is how clients of a kind of server talk to it.
type Protocol interface {
	// Session begins a connection.
	Session() Session
}

// Unknown is a protocol that nobody knows: all that a client writes before it waits is one command.
type Unknown interface {
	Protocol
	// Shown are the words of a command.
	Shown(command []byte) func(n *Names) string
}

// Session is one connection as its protocol sees it. The methods are called one at a time.
type Session interface {
	// Command cuts the first command off what the client has written: n bytes of b, and 0 while it is not whole.
	Command(b []byte) (c Sent, n int, err error)
	// Reply cuts off the first thing that the server has said. settles is how many of the commands it answers that have
	// none, the oldest first; 0 is that the server says it unasked.
	Reply(b []byte) (r Said, n, settles int, err error)
	// Greets reports whether the server has yet to say the first word, before which the client says nothing.
	Greets() bool
	// Listens reports whether the server may say something unasked, or later.
	Listens() bool
}

// Sent is a command.
type Sent struct {
	Name    string // for counts, such as SET
	Role    gate.Role
	Replies bool
	// Passes says that the command means nothing to anybody else, and passes without the gate.
	Passes bool
	// Call is the command's number where commands may be answered in another order than they were sent in; 0 is none. Those that
	// pass by themselves then overtake what waits at the gate.
	Call uint64
	// Instead are the bytes that the server gets; nil are those of the client.
	Instead []byte
	// Cancels is a call to which no answer comes any more.
	Cancels uint64
	// Aside says that it is no command, but bytes of the protocol itself. They go to the server at once, or with the command of the
	// same Call where that waits at the gate.
	Aside     bool
	MayChange bool
	// Words are the command in a line, with names and values as traces have them.
	Words func(n *Names) string
	// Key is the item that it is about first; "" is none.
	Key    string
	Access backend.Access
}

// Said is what the server says.
type Said struct {
	Words  func(n *Names) string
	Result backend.Result
	Ends   bool   // the connection, after it
	Call   uint64 // that it answers, where commands have numbers
	// Instead are the bytes that the client gets; nil are those of the server.
	Instead []byte
	Aside   bool // it is of the protocol itself, and goes to the client at once
}
