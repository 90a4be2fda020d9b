package lock

import "fmt"

// Op is an operation that a client of a lock, or an administrator, calls.
type Op uint8

// The operations. Connect is not called by a lock's user: it opens the client's connection and channel before the first
// operation.
const (
	NoOp Op = iota
	Connect
	Acquire
	Verify
	Release
	Create
	Add
	Remove
	Destroy
	Count
	Wait
	Refresh // a holder extends its lease; the result says whether it still has the lease
	ops
)

var opNames = [ops]string{
	"none", "connect", "acquire", "verify", "release", "create", "add", "remove", "destroy", "count", "wait",
	"refresh",
}

// String is the operation's name in histories and interfaces.
func (o Op) String() string {
	if o < ops {
		return opNames[o]
	}
	return "unknown"
}

// OpNamed returns the operation with that name, and whether there is one.
func OpNamed(name string) (Op, bool) {
	for o, n := range opNames {
		if n == name && o > 0 {
			return Op(o), true
		}
	}
	return NoOp, false
}

// Administrative reports whether the operation changes the slots of a semaphore. Count and wait only read.
func (o Op) Administrative() bool { return o >= Create && o <= Destroy }

// AsksHeld reports whether the operation's result says if the client still holds the lock: verify, and refresh, which
// also extends the lease.
func (o Op) AsksHeld() bool { return o == Verify || o == Refresh }

// Outcome is how an operation ended, in Jepsen's terms.
type Outcome uint8

// The outcomes, with Jepsen's words for them.
const (
	Pending Outcome = iota // not yet ended
	Done                   // ok: the operation took effect
	Failed                 // fail: the operation certainly had no effect
	Unknown                // info: the operation may have taken effect, or do so later
)

var outcomeNames = [...]string{"pending", "ok", "fail", "info"}

// String is Jepsen's word for the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Reason says why an operation did not succeed.
type Reason uint8

// The reasons, with the operations that end with them.
const (
	NoReason     Reason = iota
	Full                // acquire: the client saw each slot taken, up to the first that does not exist
	GaveUp              // acquire, wait: the last allowed attempt failed, although slots may be free
	Withdrawn           // acquire: the slot was removed after the client claimed it
	Removed             // verify: the slot does not exist any more
	Disconnected        // the connection was lost
	Busy                // administration: another client held the administration mutex in each attempt
	TimedOut            // no reply arrived in time
	Crashed             // the client died
	NotHeld             // release: the client held nothing
	reasons
)

var reasonNames = [reasons]string{
	"", "full", "gave-up", "withdrawn", "removed", "disconnected", "busy", "timed-out", "crashed", "not-held",
}

// String is the reason's name in a history's error field.
func (r Reason) String() string {
	if r < reasons {
		return reasonNames[r]
	}
	return "unknown"
}

// Of is the name of the reason for a lock of type k. For a mutex, "full" is called "taken".
func (r Reason) Of(k Kind) string {
	switch {
	case k == Semaphore:
	case r == Full:
		return "taken"
	case r == Removed:
		return "gone"
	}
	return r.String()
}

// CutOff reports whether the reason says that a client lost its connection, or crashed.
func (r Reason) CutOff() bool { return r == Disconnected || r == Crashed }

// Unheard reports whether the reason says that a client has not heard from the server.
func (r Reason) Unheard() bool { return r.CutOff() || r == TimedOut }

// ReasonNamed returns the reason with that name, and whether there is one. The name "" is that of NoReason.
func ReasonNamed(name string) (Reason, bool) {
	for r, n := range reasonNames {
		if n == name {
			return Reason(r), true
		}
	}
	return NoReason, false
}

// Result is the outcome of an operation and the values that it returned.
type Result struct {
	Outcome Outcome
	Reason  Reason
	// Held says that the client holds the lock, if an acquire, verify or refresh ended with outcome ok.
	Held bool
	// Slot is the slot acquired, verified, refreshed, released, withdrawn or waited for. If an acquire has an unknown
	// outcome, it is the slot that the client was claiming.
	Slot uint8
	// Slots is the number of slots that count returned.
	Slots uint8
}

// Kind is a lock type of the guidelines.
type Kind uint8

// The lock types.
const (
	Semaphore       Kind = iota // persistent semaphore: it has slots, which administrators add and remove
	Mutex                       // non-persistent or "true" mutex: one exclusive queue
	PersistentMutex             // a semaphore with a single slot
	kinds
)

var kindNames = [kinds]string{"semaphore", "mutex", "persistent-mutex"}

// String is the lock type's name in interfaces.
func (k Kind) String() string { return kindNames[k] }

// Known reports whether there is such a lock type.
func (k Kind) Known() bool { return k < kinds }

// KindNamed is the lock type with that name.
func KindNamed(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("lock type %q: expected one of %q", name, kindNames)
}

// Operations are the operations of the lock type, in the order in which a client may call them. Do not change the
// slice: it is shared.
func (k Kind) Operations() []Op {
	switch k {
	case Mutex:
		return mutexOps
	case PersistentMutex:
		return persistentMutexOps
	}
	return semaphoreOps
}

var (
	mutexOps           = []Op{Acquire, Verify, Release}
	persistentMutexOps = []Op{Create, Acquire, Verify, Release, Destroy, Count, Wait}
	semaphoreOps       = []Op{Create, Acquire, Verify, Release, Add, Remove, Destroy, Count, Wait}
)

// MarshalText implements [encoding.TextMarshaler].
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (o *Op) UnmarshalText(text []byte) error {
	op, ok := OpNamed(string(text))
	if !ok {
		return fmt.Errorf("operation %q: expected one of %q", text, opNames[Acquire:])
	}
	*o = op
	return nil
}
