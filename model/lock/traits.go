package lock

// Traits are features that only some locks have. They decide which scenarios are drawn and which properties apply.
type Traits uint16

// The features that only some locks have.
const (
	// Leases says that a hold ends at a certain time by the server's clock, unless [Refresh] extends it.
	Leases Traits = 1 << iota
	// Limits says that the argument of [Acquire] is a limit: the number of clients that may hold the lock at once.
	Limits
	// Priorities says that the argument of [Acquire] is a priority. A client takes the lock away from a holder with a
	// lower priority. A target has Limits or Priorities, not both.
	Priorities
	// Permits says that the lock does not number its slots, so that only the number of holders matters. The monitor
	// gives a holder the lowest free number (see [github.com/lockproof/lockproof/model/monitor.Truth]).
	Permits
	// Tokens says that each granted acquire returns a fencing token.
	Tokens
	// Deadlines says that, by its own clock, a client stops believing that it holds the lock before its lease ends.
	Deadlines
	// Acknowledged says that a client that takes the lock away from a holder waits until the holder has acknowledged
	// this.
	Acknowledged
	// Extends says that a holder of an external lock extends its lease by calling [Refresh].
	Extends
	// Losses says that clients of an external lock report on their own when they have lost it.
	Losses
	// Modes says that an external mutex has a read mode, in which many clients may hold it at once, and a write mode.
	Modes
	// Sums says that an acquire of an external semaphore takes as many permits as its caller states.
	Sums
	// Sessions says that a hold of an external lock ends with its client's session, and that the server ends the
	// session of a client that it has not heard of for a while.
	Sessions
)

// Has reports whether t includes all traits in some.
func (t Traits) Has(some Traits) bool { return t&some == some }
