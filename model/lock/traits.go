package lock

// Traits are features that not every lock has. They decide which scenarios are drawn, and which properties apply.
type Traits uint16

// The traits.
const (
	// Leases says that a hold ends by itself at a time of the server's clock; [Refresh] extends it.
	Leases Traits = 1 << iota
	// Limits says that the argument of [Acquire] limits how many clients may hold the lock at once.
	Limits
	// Priorities says that the argument of [Acquire] is a priority, and that a client takes the lock from a holder of
	// lower priority. A target has Limits or Priorities, not both.
	Priorities
	// Permits says that slots have no numbers of their own. A holder is given the lowest number that was free (see
	// [github.com/lockproof/lockproof/model/monitor.Truth]), and the number of holders decides whether a lock is
	// full.
	Permits
	// Tokens says that grants have fencing tokens.
	Tokens
	// Deadlines says that a client stops believing, by its own clock, before its lease ends.
	Deadlines
	// Acknowledged says that a client that takes the lock from its holder waits for the holder's acknowledgement.
	Acknowledged
	// Extends says that the holder of an external lock extends its lease by calling [Refresh].
	Extends
	// Losses says that clients of an external lock report, unasked, that they have lost it.
	Losses
	// Modes says that clients take an external mutex in read mode, which many may have at once, or in write mode.
	Modes
	// Sums says that an acquire of an external semaphore takes a number of permits that its caller states.
	Sums
	// Sessions says that a hold of an external lock ends with its client's session, and that the server ends the session
	// of a client that it has not heard of for a while.
	Sessions
)

// Has reports whether the traits include all of some.
func (t Traits) Has(some Traits) bool { return t&some == some }
