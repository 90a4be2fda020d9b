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
	// Initialize tells it the broker's address and which lock it will use, before the first call.
	Initialize(ctx context.Context, in Setup) (About, error)
	// Call carries out one operation. One call at a time. An error is for a client that broke the
	// protocol or died; what an operation came to is in the result (ok, fail or info, as its Outcome).
	// When ctx is done, Call returns soon, and what the operation came to is unknown.
	Call(ctx context.Context, op lock.Op, params Params) (lock.Result, error)
	// Kill ends it as a crash would: at once, without a goodbye. It may be called while Call is under
	// way, which then returns.
	Kill() error
	// Pause and Continue stop it and let it go on; [ErrUnsupported] where it can't be.
	Pause() error
	Continue() error
	// Close ends it in good order and gives back what it takes. It may follow Kill; otherwise it is not
	// called while Call is under way.
	Close() error
}

// Explainer is a Client whose target gives its errors a text: what the last call, which is over, failed with. It is ""
// for a call that did not fail. It is asked between calls.
type Explainer interface{ Explanation() string }

// ExplanationOf is what a client says of the call that is over.
func ExplanationOf(c Client) string {
	if e, ok := c.(Explainer); ok {
		return e.Explanation()
	}
	return ""
}

// Fenced is a Client whose target gives fencing tokens: the one that came with what the last call, which is over, was
// granted; 0 is none. It is asked between calls.
type Fenced interface{ Token() int64 }

// TokenOf is the fencing token that came with a call that is over.
func TokenOf(c Client) int64 {
	if f, ok := c.(Fenced); ok {
		return f.Token()
	}
	return 0
}

// Starter makes clients, numbered from 1. A client that was killed is replaced by a new one, of the
// same number.
type Starter interface {
	Start(ctx context.Context, number int) (Client, error)
}

// Preparer is a Starter whose clients take their time to begin. While others are at work, it begins the one that will be
// needed when somebody has crashed.
type Preparer interface {
	Starter
	// Prepare is Start for a client of which not yet known is by which name it will be initialized, but where it will
	// find the broker, and whose time it is to have. Unlike Start's, it may take its time, and is called from another goroutine.
	Prepare(ctx context.Context, in Setup) (Client, error)
}

// Setup is what a client gets before the first call.
type Setup struct {
	Client  string         // its name: c1, c2, …
	Lock    lock.Kind      // the type of the locks that it will use
	URLs    []string       // where the servers are: one, unless the lock stands on several
	Options map[string]any // the target's own, as its user gave them
	OurTime bool           // it is to have our time, if it can: see [Timed]
}

// About is what a client says of itself. Operations that it does not list are never called.
type About struct {
	Name       string
	Locks      []lock.Kind
	Operations []lock.Op
	// Waits says that a client may be told how long to wait for a lock.
	Waits bool
	// Several says that a client may hold several locks at once, of different names. One that does not say so is never
	// asked to.
	Several bool
	// Tokens says that a client is told a fencing token with each lock that it is granted: it is a [Fenced].
	Tokens bool
	// Limits says that each acquire is told how many may hold the lock at once. Clients may differ. A client that says so
	// is asked to wait for nothing. The field says nothing of locks other than semaphores.
	Limits bool
	// Leases says that each acquire is told for how long it is to hold the lock: the hold may end by itself then. Nobody holds such a
	// lock for certain any longer than that, counted from the call by the server's clock.
	Leases bool
	// Losses says that a client tells, unasked, that it has lost a lock: it is a [Losing].
	Losses bool
	// Modes says that each acquire is told whether the lock is taken to read, which many may at once, or to write. The field says
	// nothing of locks other than mutexes.
	Modes bool
	// Permits says that each acquire is told how many permits of a semaphore it takes. It goes with Limits, of locks that nobody creates.
	Permits bool
}

// Traits are those of the lock that its clients announce.
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

// Slotless reports whether locks have no slots, but for the limits that their callers state: nobody creates them.
func (a About) Slotless() bool { return a.Limits && !slices.Contains(a.Operations, lock.Create) }

// TakenFor is what of that counts for a lock of some type: only semaphores have limits, and who is told one does not wait.
func (a About) TakenFor(k lock.Kind) About {
	a.Limits = a.Limits && k == lock.Semaphore
	a.Waits = a.Waits && !a.Limits
	a.Modes, a.Permits = a.Modes && k == lock.Mutex, a.Permits && a.Slotless()
	if a.shares() {
		a.Operations = slices.DeleteFunc(slices.Clone(a.Operations), func(op lock.Op) bool { return op != lock.Acquire && op != lock.Release })
	}
	return a
}

// ClientName is what a client is called.
func ClientName(number int) string { return fmt.Sprintf("c%d", number) }

// called is what a client is called in messages, by its number.
func called(number int) string {
	if number == 0 {
		return "the client that sets up and audits"
	}
	return fmt.Sprintf("client %d", number)
}

// Introduce makes the first call of a client, and looks whether it offers the lock that it is wanted for.
func Introduce(ctx context.Context, c Client, in Setup) (About, error) {
	about, err := c.Initialize(ctx, in)
	about = about.TakenFor(in.Lock)
	if err == nil && !slices.Contains(about.Locks, in.Lock) {
		err = fmt.Errorf("%s offers the lock types %v: expected %s, %w, among them", about.Name, about.Locks, in.Lock, ErrOtherType)
	}
	return about, err
}

// Params are an operation's arguments: the lock's name, the number of slots (create, add, remove), and which slot (verify,
// refresh, release, wait). An acquire has the time to wait for a slot, 0 for not at all. It also has the number of clients that
// may hold the lock at once, its mode, and how many permits it takes, if clients are told that. An acquire and a refresh have for how long the lock is to be held from
// now on. 0 stands for an argument that is not given.
type Params struct {
	Name        string
	Slots, Slot int
	Timeout     time.Duration
	Limit       int
	Lease       time.Duration
	Mode        Mode
	Permits     int
}

// ErrDied is, somewhere in it, the error of a call whose client ended by itself. The operation's outcome is unknown then.
// Any other error is a client that broke the protocol, with which there is no going on.
var ErrDied = errors.New("the client ended by itself")

// ErrLeft is, somewhere in it, the error of a call of somebody else's that does not return when it has to, and is left where it is.
var ErrLeft = errors.New("it has not returned after its context ended, and its goroutine is left: have it return when ctx is done")

// ErrElsewhere is the error of a runner whose client sends nothing to the address that it was given.
var ErrElsewhere = errors.New("the client sends nothing to the address that it was given: " +
	"expected it to connect there, and not to an address of its own; if its clients share a connection, run one worker at a time")

// ErrOtherType is, somewhere in it, the error of a client that does not offer the lock type that is wanted.
var ErrOtherType = errors.New("the type that it is to be judged as")

// ErrUnsupported is the answer of a client that can't be paused.
var ErrUnsupported = errors.New("this client cannot do that")

// StartLimit is how long starting a client, or an operation outside of a scenario, may take.
const StartLimit = 30 * time.Second
