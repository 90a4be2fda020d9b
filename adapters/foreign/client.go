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
	// Call carries out one operation. Calls do not overlap. The error is for a client that broke the protocol or died; the
	// outcome of the operation (ok, fail or info) is in the result. When ctx is done, Call returns soon, and the outcome is
	// unknown.
	Call(ctx context.Context, op lock.Op, params Params) (lock.Result, error)
	// Kill ends the client as a crash would: at once, without closing its connections in good order. It may be called during
	// Call, which then returns.
	Kill() error
	// Pause stops the client and Continue resumes it. They return [ErrUnsupported] if the client can't be paused.
	Pause() error
	Continue() error
	// Close ends the client in good order and releases its resources. It may follow Kill; otherwise it is not called during
	// Call.
	Close() error
}

// Explainer is a Client whose target describes its errors in text. Explanation is the error text of the last completed call,
// "" if that call did not fail. It is called between calls.
type Explainer interface{ Explanation() string }

// ExplanationOf is the error text that client c gives for its last completed call.
func ExplanationOf(c Client) string {
	if e, ok := c.(Explainer); ok {
		return e.Explanation()
	}
	return ""
}

// Fenced is a Client whose target gives fencing tokens. Token is the fencing token that the last completed call was granted;
// 0 is no token. It is called between calls.
type Fenced interface{ Token() int64 }

// TokenOf is the fencing token that came with the last completed call of c.
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

// Preparer is a Starter whose clients are slow to start. While others are at work, it prepares the client that will be
// needed after the next crash.
type Preparer interface {
	Starter
	// Prepare is Start for a client whose name (for Initialize) is not known yet. The address of the broker and the kind of
	// its clock are known. Unlike Start, it may be slow, and is called from another goroutine.
	Prepare(ctx context.Context, in Setup) (Client, error)
}

// Setup is what a client gets before the first call.
type Setup struct {
	Client  string         // name of the client: c1, c2, …
	Lock    lock.Kind      // type of the locks that the client will use
	URLs    []string       // addresses of the servers: one, unless the lock is spread over several servers
	Options map[string]any // options of the target, as its user gave them
	OurTime bool           // the client has virtual time, if it can: see [Timed]
}

// About is what a client declares about itself. Only the operations in Operations are called.
type About struct {
	Name       string
	Locks      []lock.Kind
	Operations []lock.Op
	// Waits says that an acquire may state how long to wait for the lock.
	Waits bool
	// Several says that a client may hold several locks with different names at once. A client without Several is never
	// asked to.
	Several bool
	// Tokens says that the client receives a fencing token with each lock that it is granted: it is a [Fenced].
	Tokens bool
	// Limits says that each acquire states how many clients may hold the lock at once. Clients may state different limits. A
	// client with Limits is never asked to wait. Limits applies to semaphores only.
	Limits bool
	// Leases says that each acquire states the duration of the hold, after which the hold may end by itself. No hold of such
	// a lock is certain any longer than that, counted from the call by the server's clock.
	Leases bool
	// Losses says that a client reports, unasked, that it has lost a lock: it is a [Losing].
	Losses bool
	// Modes says that each acquire states whether the lock is taken to read, which many clients may do at once, or to write.
	// Modes applies to mutexes only.
	Modes bool
	// Permits says that each acquire states how many permits of a semaphore it takes. It requires Limits and locks that are
	// not created.
	Permits bool
}

// Traits are the traits of the lock that its clients declare.
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

// Slotless reports whether locks have no slots other than the limits that their callers state: locks are not created.
func (a About) Slotless() bool { return a.Limits && !slices.Contains(a.Operations, lock.Create) }

// TakenFor is the part of a that applies to lock type k: only semaphores have limits, and a client that states a limit does
// not wait.
func (a About) TakenFor(k lock.Kind) About {
	a.Limits = a.Limits && k == lock.Semaphore
	a.Waits = a.Waits && !a.Limits
	a.Modes, a.Permits = a.Modes && k == lock.Mutex, a.Permits && a.Slotless()
	if a.shares() {
		a.Operations = slices.DeleteFunc(slices.Clone(a.Operations), func(op lock.Op) bool { return op != lock.Acquire && op != lock.Release })
	}
	return a
}

// ClientName is the name of the client with the given number.
func ClientName(number int) string { return fmt.Sprintf("c%d", number) }

// called is the name of the client with the given number in messages.
func called(number int) string {
	if number == 0 {
		return "the client that sets up and audits"
	}
	return fmt.Sprintf("client %d", number)
}

// Introduce makes the first call of client c, and checks that it offers the lock type of in.
func Introduce(ctx context.Context, c Client, in Setup) (About, error) {
	about, err := c.Initialize(ctx, in)
	about = about.TakenFor(in.Lock)
	if err == nil && !slices.Contains(about.Locks, in.Lock) {
		err = fmt.Errorf("%s offers the lock types %v: expected %s, %w, among them", about.Name, about.Locks, in.Lock, ErrOtherType)
	}
	return about, err
}

// Params are an operation's arguments: the lock's name, the number of slots (create, add, remove), and the slot (verify,
// refresh, release, wait). An acquire states how long to wait for a slot; 0 is not at all. If clients declare it, an acquire
// also states the number of clients that may hold the lock at once, the mode, and the number of permits. An acquire and a
// refresh state how long the lock is to be held from now on. 0 stands for an argument that is not given.
type Params struct {
	Name        string
	Slots, Slot int
	Timeout     time.Duration
	Limit       int
	Lease       time.Duration
	Mode        Mode
	Permits     int
}

// ErrDied is wrapped by the error of a call whose client ended by itself. The operation's outcome is then unknown. Any other
// error of a call means that the client broke the protocol, and the run cannot continue.
var ErrDied = errors.New("the client ended by itself")

// ErrLeft is wrapped by the error of a call into user code that does not return when its context ends. Its goroutine is
// abandoned.
var ErrLeft = errors.New("it has not returned after its context ended, and its goroutine is left: have it return when ctx is done")

// ErrElsewhere is the error of a runner whose client sends nothing to the address that it was given.
var ErrElsewhere = errors.New("the client sends nothing to the address that it was given: " +
	"expected it to connect there, and not to an address of its own; if its clients share a connection, run one worker at a time")

// ErrOtherType is wrapped by the error of a client that does not offer the lock type that it is to be judged as.
var ErrOtherType = errors.New("the type that it is to be judged as")

// ErrUnsupported is the error of a client that can't be paused.
var ErrUnsupported = errors.New("this client cannot do that")

// StartLimit is the maximum duration of starting a client, and of an operation outside of a scenario.
const StartLimit = 30 * time.Second
