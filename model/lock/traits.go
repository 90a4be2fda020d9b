package lock

// Traits is what a target's locks have that not every lock has: what may be drawn for it, and which properties mean
// something.
type Traits uint16

// The traits.
const (
	// Leases says that a hold ends by itself at a moment of the server's clock; [Refresh] puts it off.
	Leases Traits = 1 << iota
	// Limits says that whoever acquires states how many may hold the lock at once: it is the argument of [Acquire].
	Limits
	// Priorities says that whoever acquires has a priority, the argument of [Acquire], and takes the lock from a holder of
	// a lower one. A target has Limits or Priorities, not both.
	Priorities
	// Permits says that slots have no numbers of their own: a holder has the lowest that was free (see
	// [github.com/lockproof/lockproof/model/monitor.Truth]), and a lock is full by count.
	Permits
	// Tokens says that grants have fencing tokens.
	Tokens
	// Deadlines says that a client stops believing, by its own clock, before its lease ends.
	Deadlines
	// Acknowledged says that whoever takes the lock from its holder waits until that one has acknowledged it.
	Acknowledged
)

// Has reports whether all of some traits are there.
func (t Traits) Has(some Traits) bool { return t&some == some }
