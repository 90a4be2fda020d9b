package lock

// Traits are the features that not every lock has. They decide which scenarios are drawn, and which properties apply.
type Traits uint16

// The traits.
const (
	// Leases says that a hold ends by itself at a moment of the server's clock; [Refresh] puts it off.
	Leases Traits = 1 << iota
	// Limits says that a caller states how many clients may hold the lock at once: the argument of [Acquire].
	Limits
	// Priorities says that a caller has a priority, the argument of [Acquire], and takes the lock from a holder of a
	// lower one. A target has Limits or Priorities, not both.
	Priorities
	// Permits says that slots have no numbers of their own: a holder has the lowest that was free (see
	// [github.com/lockproof/lockproof/model/monitor.Truth]), and a lock is full by count.
	Permits
	// Tokens says that grants have fencing tokens.
	Tokens
	// Deadlines says that a client stops believing, by its own clock, before its lease ends.
	Deadlines
	// Acknowledged says that a client that takes the lock from its holder waits for the holder's acknowledgement.
	Acknowledged
	// Extends says of somebody else's lock that a holder puts off the end of its lease by calling [Refresh].
	Extends
	// Losses says of somebody else's lock that clients tell, unasked, that they have lost it.
	Losses
	// Modes says of somebody else's mutex that clients take it to read, which many may, or to write.
	Modes
	// Sums says of somebody else's semaphore that an acquire takes as many permits as its caller says.
	Sums
)

// Has reports whether all of some traits are there.
func (t Traits) Has(some Traits) bool { return t&some == some }
