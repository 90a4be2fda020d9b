package backend

// Exchange is a command that reached the server, with its reply.
type Exchange struct {
	// Method and Answer are numbers of the backend's own tables, for coverage, and for the words in reports and
	// files.
	Method, Answer uint8
	Access         Access
	Result         Result
	// Role, Lock and Slot identify the command's resource, if Known. Ambiguous says that the resource also belongs to
	// another lock, or has another role as well.
	Role       Role
	Lock, Slot uint8
	Known      bool
	Ambiguous  bool
	// RoundTrip says that the client waited for all earlier replies before this command; Waits says that it gets a
	// reply.
	RoundTrip, Waits bool
	// Unasked says that the exchange is a delivery to the client, without a command.
	Unasked bool
	// Exclusive says that the created resource ends with the session.
	Exclusive bool
	// Aborted says that the command, or an earlier one, ended its unit of the session: a channel, a transaction.
	Aborted bool
	// Ended says that the session is over, because of the command or as the answer to it.
	Ended bool
	// Stored says that a message of the command, or of those that it commits, has stayed in a queue or went to a
	// consumer, which may be another client's.
	Stored bool
	// Minimal says that every driver offers the command (guidelines, "Limitation Tolerance").
	Minimal bool
	// Key is the backend's own number of the resource, whatever its kind; 0 is none.
	Key uint16
}

// Session is a client's session with a server: an AMQP connection, a connection to a database, a lease. All holds of
// a session end with it at once. 0 is none.
type Session uint16

// Footprint is the set of resources that a client touches, with its next command and with all later ones. Two clients
// with disjoint footprints may act in any order.
type Footprint struct {
	// Choosing says that the next step is the choice of a random option, which affects no other client.
	Choosing bool
	// Private says that the next command touches no resource. Reads are the roles of its resource, if it only reads.
	// Otherwise both are unset.
	Private bool
	Reads   Roles
	// Writes are the roles of the resources that the client may create, delete or lose from now on.
	Writes Roles
}

// Role is the role of a resource in its lock.
type Role uint8

// The roles.
const (
	Slot       Role = iota // it exists if the slot does
	Holder                 // it exists while the slot has a holder, who owns it
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
	Read          // it reads, without visible effect
	Create        // it creates or claims the resource
	Delete
	Commit // it makes the preceding commands take effect
	OpenSession
	CloseSession
	OpenUnit
	CloseUnit
	Mode // it changes the mode of the channel or session
	// Acknowledge is a client's message to the client that took its slot: it has stopped using the slot.
	Acknowledge
)

// Result is the result of a command, as far as locks distinguish results.
type Result uint8

// The results.
const (
	Done    Result = iota
	Absent         // the resource does not exist
	Refused        // another client owns the resource
	Denied         // the server denies it for another reason
	Wrong          // the command is invalid
	Failed         // the server failed: a fault
	Ended          // the session is over
	Lost           // no reply arrived
	Blocked        // the command waits inside the server
)
