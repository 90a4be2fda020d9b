package backend

// Exchange is a command that reached the server, and its reply.
type Exchange struct {
	// Method and Answer are numbers of the backend's own tables: for coverage, and for the words of cards and files.
	Method, Answer uint8
	Access         Access
	Result         Result
	// Role, Lock and Slot say what the resource is that the command is about, where Known. Ambiguous says that it is another
	// lock's, or has another role, as well.
	Role       Role
	Lock, Slot uint8
	Known      bool
	Ambiguous  bool
	// RoundTrip says that the client waited for all replies to what it sent before; Waits, that it is sent a reply.
	RoundTrip, Waits bool
	// Unasked says that the exchange is a delivery to the client, without a command.
	Unasked bool
	// Exclusive says that what is made goes with the session.
	Exclusive bool
	// Aborted says that the command, or one before it, ended the unit that it was sent on: a channel, a transaction.
	Aborted bool
	// Ended says that the session is over, by the command or in answer to it.
	Ended bool
	// Minimal says that it is a command that every driver has (guidelines, "Limitation Tolerance").
	Minimal bool
	// Key is the resource, whatever it is, by the backend's own number; 0 is none.
	Key uint16
}

// Session is a client's session with a server: an AMQP connection, a connection to a database, a lease. It ends at
// once, with every hold on it. 0 is none.
type Session uint16

// Footprint is the set of resources that a client touches: with its next command, and with all later ones. Two
// clients with disjoint footprints may act in any order.
type Footprint struct {
	// Choosing says that the next step is the choice of a random option, which affects no other client.
	Choosing bool
	// Private says that the next command touches no resource; Reads are the roles of the resource of one that only
	// looks. Both are unset where neither is the case.
	Private bool
	Reads   Roles
	// Writes are the roles of the resources that the client may make, delete or lose from now on.
	Writes Roles
}

// Role is what a resource is to its lock.
type Role uint8

// The roles.
const (
	Slot       Role = iota // it exists where the slot does
	Holder                 // it exists while the slot has a holder, and belongs to the holder
	AdminMutex             // its owner administers
	Mutex                  // the one resource of a true mutex: it exists while the lock has a holder
)

// String is the role in one word.
func (r Role) String() string { return [...]string{"A", "B", "admin", "mutex"}[r] }

// Roles is a set of roles.
type Roles uint8

// AllRoles is the set of every role.
const AllRoles Roles = 1<<Slot | 1<<Holder | 1<<AdminMutex | 1<<Mutex

// Has reports whether a role is in the set.
func (s Roles) Has(r Role) bool { return s&(1<<r) != 0 }

// Access is what a command does to a resource or to the client's connection.
type Access uint8

// The kinds of access. Opaque is any other.
const (
	Opaque Access = iota
	Read          // it looks, and has no visible effect
	Create        // it makes the resource, or claims it
	Delete
	Commit // it has what was sent before take effect
	OpenSession
	CloseSession
	OpenUnit
	CloseUnit
	Mode // it changes how the unit works
	// Acknowledge is a client's message to the thief of its slot that it has stopped using it.
	Acknowledge
)

// Result is the result of a command, as far as locks distinguish results.
type Result uint8

// The results.
const (
	Done    Result = iota
	Absent         // the resource does not exist
	Refused        // another client owns it
	Denied         // it is not to be had for another reason of the server's
	Wrong          // the command makes no sense to the server
	Failed         // the server failed: a fault
	Ended          // the session is over
	Lost           // nothing came back
	Blocked        // it waits inside the server
)
