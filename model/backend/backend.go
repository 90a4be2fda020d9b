package backend

// Exchange is a command that reached the server, with its reply.
type Exchange struct {
	// Method is the backend's number of the command, and Answer of the reply's kind. They serve to measure coverage and
	// to find the words in reports and files.
	Method, Answer uint8
	Access         Access
	Result         Result
	// Role, Lock and Slot say which resource the command concerns, if Known. Ambiguous says that the resource also
	// belongs to another lock, or has a second role.
	Role       Role
	Lock, Slot uint8
	Known      bool
	Ambiguous  bool
	// RoundTrip says that the client waited for all earlier replies before it sent this command. Waits says that the
	// client gets a reply to this command.
	RoundTrip, Waits bool
	// Unasked says that the exchange is a message from the server to the client, without a command.
	Unasked bool
	// Exclusive says that the resource that the command creates ends with the client's session.
	Exclusive bool
	// Aborted says that this command, or an earlier one, ended a part of the session: a channel or a transaction.
	Aborted bool
	// Ended says that the client's session is over, by the command itself or by the server's answer to it.
	Ended bool
	// Minimal says that clients may rely on every driver to have the command (guidelines, "Limitation Tolerance").
	Minimal bool
	// Key is the backend's number of the resource; 0 means that the command concerns no resource.
	Key uint16
}

// Session is the number of a client's session with a server, such as an AMQP connection, a database connection or a
// lease. All holds of a session end with it. 0 is no session.
type Session uint16

// Footprint says which resources a client touches, by its next command and by all later commands of its operation. If
// the footprints of two clients are disjoint, a search may order their steps either way.
type Footprint struct {
	// Choosing says that the client next chooses a random option. This step affects no other client.
	Choosing bool
	// Private says that the next command touches no resource. If the next command only reads a resource, Reads has the
	// roles that this resource may have. If the command writes, Private is false and Reads is empty.
	Private bool
	Reads   Roles
	// Writes are the roles of resources that the client may create, delete or lose, now or later in its operation.
	Writes Roles
}

// Role is the purpose of a resource, such as a queue, for its lock.
type Role uint8

// The roles of resources in a lock.
const (
	Slot       Role = iota // the resource exists if the slot exists
	Holder                 // the resource exists while the slot has a holder, which owns it
	AdminMutex             // the owner of the resource may administer the lock
	Mutex                  // the only resource of a true mutex: it exists while the lock has a holder
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

// The kinds of access. Opaque is every command that is none of the others.
const (
	Opaque Access = iota
	Read          // reads a resource, without a visible effect
	Create        // creates or claims a resource
	Delete
	Commit // makes the preceding commands of a transaction take effect
	OpenSession
	CloseSession
	OpenUnit
	CloseUnit
	Mode // changes the mode of the channel or session, such as confirms
	// Acknowledge is a client's message to another client that took its slot: the sender has stopped using the slot.
	Acknowledge
)

// Result is the result of a command, as far as the correctness of a lock depends on it.
type Result uint8

// The results of commands. Done means success.
const (
	Done    Result = iota
	Absent         // the resource does not exist
	Refused        // another client owns the resource
	Denied         // the server refuses the command for another reason
	Wrong          // the command is invalid
	Failed         // the server had a fault
	Ended          // the client's session is over
	Lost           // no reply arrived
	Blocked        // the server has not yet answered: the command waits there for other clients
)
