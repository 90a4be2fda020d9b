package foreign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockproof/lockproof/model/lock"
)

// Client is one client of an external lock: a sequential process, or something that behaves like one.
type Client interface {
	// Initialize tells the client, before the first call, the address of the broker and the type of lock that it will use.
	Initialize(ctx context.Context, in Setup) (About, error)
	// Call carries out one operation and returns its result; the outcome in it is ok, fail or info. Calls do not
	// overlap. An error means that the client broke the protocol or died. When ctx is done, Call returns soon, and the
	// outcome is unknown.
	Call(ctx context.Context, op lock.Op, params Params) (lock.Result, error)
	// Kill ends the client at once, as a crash would, without closing its connections properly. It may be called during
	// Call, which then returns.
	Kill() error
	// Pause stops the client and Continue resumes it. They return [ErrUnsupported] if the client cannot be paused.
	Pause() error
	Continue() error
	// Close ends the client in good order and releases its resources. It may follow Kill; otherwise it is not called during
	// Call.
	Close() error
}

// Explainer is a Client that describes failed calls in text. Explanation is the text for the last completed call; "" if
// that call did not fail. It is called between calls.
type Explainer interface{ Explanation() string }

// ExplanationOf is the error text of client c for its last completed call; "" if there is none.
func ExplanationOf(c Client) string {
	if e, ok := c.(Explainer); ok {
		return e.Explanation()
	}
	return ""
}

// Fenced is a Client that receives fencing tokens. Token is the token that the last completed call was granted; 0 means
// none. It is called between calls.
type Fenced interface{ Token() int64 }

// TokenOf is the fencing token that client c received with its last completed call; 0 means none.
func TokenOf(c Client) int64 {
	if f, ok := c.(Fenced); ok {
		return f.Token()
	}
	return 0
}

// Starter starts clients, numbered from 1. A client that was killed is replaced by a new one with the same number.
type Starter interface {
	Start(ctx context.Context, number int) (Client, error)
}

// Preparer is a Starter for clients that start slowly. While clients work, it prepares the one that replaces the next
// client that crashes.
type Preparer interface {
	Starter
	// Prepare is like Start, for a client whose number is not known yet. in has the broker's address and says whether
	// the client gets virtual time. Prepare may be slow, and is called from another goroutine.
	Prepare(ctx context.Context, in Setup) (Client, error)
}

// Setup is what a client is told before the first call.
type Setup struct {
	Client  string         // name of the client: c1, c2, …
	Lock    lock.Kind      // type of the locks that the client will use
	URLs    []string       // addresses of the servers: one, unless the lock is spread over several servers
	Options map[string]any // options of the target, as its user gave them
	OurTime bool           // the client should use virtual time, if it can; see [Timed]
}

// About is what a client declares about itself. Operations lists the operations that may be called.
type About struct {
	Name       string
	Locks      []lock.Kind
	Operations []lock.Op
	// Waits says that an acquire may state how long to wait for the lock.
	Waits bool
	// Several says that a client may hold several locks of different names at once. Otherwise it is never asked to do
	// so.
	Several bool
	// Tokens says that the client receives a fencing token with each grant; it must implement [Fenced].
	Tokens bool
	// Limits says that each acquire states how many clients may hold the lock at once. Clients may state different limits. A
	// client with Limits is never asked to wait. Limits applies to semaphores only.
	Limits bool
	// Leases says that each acquire states for how long it takes the lock. The hold may end by itself after that time,
	// counted from the call by the server's clock. It is certain no longer than that.
	Leases bool
	// Losses says that a client reports, unasked, that it has lost a lock; it must implement [Losing].
	Losses bool
	// Modes says that each acquire states whether the lock is taken to read, which many clients may do at once, or to write.
	// Modes applies to mutexes only.
	Modes bool
	// Permits says that each acquire states how many permits of a semaphore it takes. It is only possible with Limits,
	// and if Operations lacks create.
	Permits bool
}

// Traits are the traits of the lock that follow from what the client declares.
func (a About) Traits() (t lock.Traits) {
	if a.Tokens {
		t |= lock.Tokens
	}
	if a.Limits {
		t |= lock.Limits
	}
	if a.Leases {
		t |= lock.Leases
	}
	if a.Losses {
		t |= lock.Losses
	}
	if a.Modes {
		t |= lock.Modes
	}
	if a.Permits {
		t |= lock.Sums
	}
	if slices.Contains(a.Operations, lock.Refresh) {
		t |= lock.Extends
	}
	return t
}

// Slotless reports whether locks are never created: they have no slots other than the limits that their callers state.
func (a About) Slotless() bool { return a.Limits && !slices.Contains(a.Operations, lock.Create) }

// TakenFor adapts a to lock type k: only semaphores have limits, and a client that states a limit does not wait.
func (a About) TakenFor(k lock.Kind) About {
	a.Limits = a.Limits && k == lock.Semaphore
	a.Waits = a.Waits && !a.Limits
	a.Modes, a.Permits = a.Modes && k == lock.Mutex, a.Permits && a.Slotless()
	if a.shares() {
		a.Operations = slices.DeleteFunc(slices.Clone(a.Operations), func(op lock.Op) bool { return op != lock.Acquire && op != lock.Release })
	}
	return a
}

// ClientName is the name of a client, such as c1 for number 1.
func ClientName(number int) string { return fmt.Sprintf("c%d", number) }

// called is the name of a client in error messages. Client 0 is the setup client.
func called(number int) string {
	if number == 0 {
		return "the client that sets up and audits"
	}
	return fmt.Sprintf("client %d", number)
}

// Introduce initializes client c. It returns an error if c does not offer the lock type of in.
func Introduce(ctx context.Context, c Client, in Setup) (About, error) {
	about, err := c.Initialize(ctx, in)
	about = about.TakenFor(in.Lock)
	if err == nil && !slices.Contains(about.Locks, in.Lock) {
		err = fmt.Errorf("%s offers the lock types %v: expected %s, %w, among them", about.Name, about.Locks, in.Lock, ErrOtherType)
	}
	return about, err
}

// Params are an operation's arguments. A zero field means that the argument is not given. Name is the lock's name.
//
//   - Slots is the number of slots to create, add or remove.
//   - Slot is the slot to verify, refresh, release or wait for.
//   - Timeout is how long an acquire waits for a slot; 0 means not at all.
//   - Lease is how long an acquire or a refresh takes the lock, counted from the call.
//   - Limit is how many clients may hold the lock at once, according to this acquire.
//   - Mode says whether an acquire takes the lock to read or to write.
//   - Permits is the number of permits that an acquire takes.
//
// An acquire has Timeout, Lease, Limit, Mode and Permits only if the clients declare them in [About].
type Params struct {
	Name        string
	Slots, Slot int
	Timeout     time.Duration
	Limit       int
	Lease       time.Duration
	Mode        Mode
	Permits     int
}

// ErrDied is wrapped by the error of a call whose client ended by itself. The operation's outcome is then unknown.
// After any other error of a call the run cannot continue, because the client broke the protocol.
var ErrDied = errors.New("the client ended by itself")

// ErrLeft is wrapped by the error of a call into user code that did not return when its context ended. Its goroutine
// keeps running.
var ErrLeft = errors.New("it has not returned after its context ended, and its goroutine is left: have it return when ctx is done")

// ErrElsewhere is the error of [NewRunner] if clients send nothing to the address that they were given.
var ErrElsewhere = errors.New("the client sends nothing to the address that it was given: " +
	"expected it to connect there, and not to an address of its own; if its clients share a connection, run one worker at a time")

// ErrOtherType is wrapped by the error for a client that does not offer the requested lock type.
var ErrOtherType = errors.New("the type that it is to be judged as")

// ErrUnsupported is the error of Pause and Continue for a client that cannot be paused.
var ErrUnsupported = errors.New("this client cannot do that")

// StartLimit is the maximum duration of starting a client, and of an operation outside of a scenario.
const StartLimit = 30 * time.Second
