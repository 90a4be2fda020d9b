package inprocess

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/adapters/foreign"
	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Lock is one client of locks, with its own connection to the broker. Its methods are not called concurrently. After
// an error it is unknown whether the call had an effect, unless the error wraps [ErrNoEffect].
type Lock interface {
	// Acquire tries to get a slot of a lock. slot is its number, from 1, or 0 if all slots are taken.
	Acquire(ctx context.Context, name string) (slot int, err error)
	// Verify reports whether this client still holds a slot. If its connection is lost, held is false; that is not an error.
	Verify(ctx context.Context, name string, slot int) (held bool, err error)
	// Release releases a slot.
	Release(ctx context.Context, name string, slot int) error
	// Close closes the client's connection, and releases its other resources.
	Close() error
}

// Administrator is a Lock that can create locks with a number of slots. A Lock that is not an Administrator is taken for a
// mutex.
type Administrator interface {
	Lock
	// Create makes a lock with the given number of slots. Destroy removes all its slots.
	Create(ctx context.Context, name string, slots int) error
	Destroy(ctx context.Context, name string) error
	// Count returns the number of slots of a lock, held or not.
	Count(ctx context.Context, name string) (slots int, err error)
}

// Resizer is an Administrator that can change the number of slots of an existing lock.
type Resizer interface {
	Administrator
	Add(ctx context.Context, name string, slots int) error
	Remove(ctx context.Context, name string, slots int) error
}

// Waiter is a Lock whose clients can wait until a slot is free.
type Waiter interface {
	Lock
	Wait(ctx context.Context, name string, slot int) error
}

// Waiting is a Lock whose clients can wait for a slot, at most for timeout. slot is 0 if no slot became free in that
// time.
type Waiting interface {
	Lock
	AcquireWithin(ctx context.Context, name string, timeout time.Duration) (slot int, err error)
}

// Several is a Lock that says whether a client may hold several locks with different names at once.
type Several interface {
	Lock
	Several() bool
}

// Fencing is a Lock that gives fencing tokens. Token returns the token, from 1, of the slot that the last acquire was
// granted. It is called only after a granted acquire.
type Fencing interface {
	Lock
	Token(name string, slot int) int64
}

// Limited is a Lock whose callers state how many may hold it at once. Callers may state different limits. A semaphore that
// is Limited and not an Administrator has no slots, so Acquire may return any number from 1.
type Limited interface {
	Lock
	AcquireLimited(ctx context.Context, name string, limit int) (slot int, err error)
}

// Leased is a Lock whose slots are released when a lease ends, as with locks on Redis. Each acquire states the
// lease's duration.
type Leased interface {
	Lock
	AcquireFor(ctx context.Context, name string, lease time.Duration) (slot int, err error)
}

// ErrNoEffect is wrapped by the error of a call that certainly had no effect.
var ErrNoEffect = errors.New("no effect")

// ErrNoAdministrator is the error of a lock with slots whose client is not an [Administrator].
var ErrNoAdministrator = errors.New("no Administrator: expected Create, Destroy and Count besides what a mutex has")

// New makes a client, connected to the server at url, or to several servers whose URLs are separated by commas. ctx ends
// when the client does.
type New func(ctx context.Context, url string) (Lock, error)

// Starter starts clients with a constructor. It implements [foreign.Starter].
type Starter struct {
	Name string
	New  New
}

// Start makes a client that is not connected. Its first call, Initialize, has the broker's address and calls the
// constructor New.
func (s Starter) Start(context.Context, int) (foreign.Client, error) {
	c := &client{starter: s, jobs: make(chan func())}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c, nil
}

// notAdministrator returns the error for a lock with slots that is not an [Administrator]. If the lock has only some
// of an Administrator's methods, the error names them: its author may have forgotten the others.
func notAdministrator(made Lock) error {
	var has []string
	for _, name := range []string{"Create", "Destroy", "Count", "Add", "Remove"} {
		if _, there := reflect.TypeOf(made).MethodByName(name); there {
			has = append(has, name)
		}
	}
	if len(has) > 0 {
		return fmt.Errorf("%T has %s, and is no Administrator: expected Create, Destroy and Count as lockproof.Administrator has them; or As(lockproof.Mutex), which does not call them",
			made, strings.Join(has, ", "))
	}
	return fmt.Errorf("%T is %w", made, ErrNoAdministrator)
}

type client struct {
	starter Starter
	lock    Lock // the lock that the client uses; nil until Initialize has constructed it
	ctx     context.Context
	end     context.CancelFunc
	ended   bool                          // Kill has been called
	busy    atomic.Pointer[chan struct{}] // closed when the last call has returned; nil before the first call
	jobs    chan func()                   // for goroutines that have carried out earlier calls and are idle
	said    string                        // error text of the last operation
	token   int64                         // fencing token of the last grant
}

// Initialize constructs the client, and returns what its lock supports.
func (c *client) Initialize(ctx context.Context, in foreign.Setup) (foreign.About, error) {
	made, err := c.connect(ctx, strings.Join(in.URLs, ","))
	if err != nil {
		return foreign.About{}, fmt.Errorf("making client %s: %w", in.Client, err)
	}
	c.lock = made
	about := foreign.About{Name: c.starter.Name, Locks: []lock.Kind{in.Lock}, Operations: []lock.Op{lock.Acquire, lock.Verify, lock.Release}}
	_, about.Waits = made.(Waiting)
	_, about.Tokens = made.(Fencing)
	_, about.Limits = made.(Limited)
	if _, about.Leases = made.(Leased); about.Leases {
		about.Waits = false // an acquire with a lease does not wait
	}
	if s, ok := made.(Several); ok {
		about.Several = s.Several()
	}
	_, admin := made.(Administrator)
	if !admin && in.Lock != lock.Mutex && !(about.Limits && in.Lock == lock.Semaphore) {
		return about, notAdministrator(made)
	}
	if admin {
		about.Operations = append(about.Operations, lock.Create, lock.Destroy, lock.Count)
	}
	if _, ok := made.(Resizer); ok {
		about.Operations = append(about.Operations, lock.Add, lock.Remove)
	}
	if _, ok := made.(Waiter); ok {
		about.Operations = append(about.Operations, lock.Wait)
	}
	return about, nil
}

// connect constructs the lock. When ctx is done, the client's context ends. If the constructor does not return
// shortly after that, connect returns an error; a lock that the constructor still returns later is closed.
func (c *client) connect(ctx context.Context, url string) (made Lock, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		guard(&err, func() string { return "New" }, func() (err error) {
			made, err = c.starter.New(c.ctx, url)
			return err
		})
	}()
	select {
	case <-done:
		return made, err
	case <-ctx.Done():
		c.end()
	}
	select {
	case <-done:
		return made, err
	case <-time.After(closing):
	}
	go func() {
		if <-done; err == nil && made != nil {
			_ = guarded("Close", made.Close) // there is no caller to return the error to
		}
	}()
	return nil, fmt.Errorf("%w: %w", context.Cause(ctx), foreign.ErrLeft)
}

// Call carries out one operation. When ctx is done, Call returns without waiting for the operation; the client's next
// call waits for it.
func (c *client) Call(ctx context.Context, op lock.Op, p foreign.Params) (lock.Result, error) {
	if before := c.busy.Load(); before != nil {
		select {
		case <-*before:
		case <-ctx.Done():
			return lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}, nil
		}
	}
	c.said, c.token = "", 0
	var r lock.Result
	var said string
	var token int64
	var err error
	busy := make(chan struct{})
	c.busy.Store(&busy)
	c.do(func() {
		defer close(busy)
		guard(&err, func() string { return fmt.Sprintf("%s %s", op, p.Name) }, func() (err error) {
			if r, said, err = c.call(ctx, op, p); err == nil && op == lock.Acquire && r.Held {
				token, err = c.fenced(p.Name, int(r.Slot))
			}
			return err
		})
	})
	select {
	case <-busy:
		c.said, c.token = said, token
		return r, err
	case <-ctx.Done():
		return lock.Result{Outcome: lock.Unknown, Reason: lock.TimedOut}, nil
	}
}

// do runs job in a goroutine. It prefers a goroutine that has run a job before, since its stack has already grown.
func (c *client) do(job func()) {
	select {
	case c.jobs <- job:
	default:
		go c.work(job)
	}
}

// work runs jobs one after the other until the client ends.
func (c *client) work(job func()) {
	for {
		job()
		select {
		case job = <-c.jobs:
		case <-c.ctx.Done():
			return
		}
	}
}

// call carries out one operation. said is the error text of an operation that failed or whose result is unknown.
func (c *client) call(ctx context.Context, op lock.Op, p foreign.Params) (r lock.Result, said string, err error) {
	r = lock.Result{Outcome: lock.Done, Slot: uint8(p.Slot)}
	var n int
	switch op {
	case lock.Acquire:
		n, err = c.acquire(ctx, p)
		r.Held, r.Slot = n > 0, uint8(n)
	case lock.Verify:
		r.Held, err = c.lock.Verify(ctx, p.Name, p.Slot)
	case lock.Release:
		err = c.lock.Release(ctx, p.Name, p.Slot)
	case lock.Create:
		err = c.lock.(Administrator).Create(ctx, p.Name, p.Slots)
	case lock.Destroy:
		err = c.lock.(Administrator).Destroy(ctx, p.Name)
	case lock.Count:
		n, err = c.lock.(Administrator).Count(ctx, p.Name)
		r.Slots = uint8(n)
	case lock.Add:
		err = c.lock.(Resizer).Add(ctx, p.Name, p.Slots)
	case lock.Remove:
		err = c.lock.(Resizer).Remove(ctx, p.Name, p.Slots)
	case lock.Wait:
		err = c.lock.(Waiter).Wait(ctx, p.Name, p.Slot)
	default:
		return r, "", fmt.Errorf("call of %s: the client does not offer it", op)
	}
	switch {
	case n < 0 || n > lock.MaxSlots:
		return r, "", fmt.Errorf("%s %s returned %d: expected 0 to %d", op, p.Name, n, lock.MaxSlots)
	case errors.Is(err, ErrNoEffect):
		return lock.Result{Outcome: lock.Failed, Slot: uint8(p.Slot)}, err.Error(), nil
	case err != nil:
		return lock.Result{Outcome: lock.Unknown, Slot: uint8(p.Slot)}, err.Error(), nil
	}
	return r, "", nil
}

// acquire acquires a lock. The call's parameters decide which of the lock's methods it uses, for example the one with
// a timeout.
func (c *client) acquire(ctx context.Context, p foreign.Params) (int, error) {
	switch {
	case p.Limit > 0:
		return c.lock.(Limited).AcquireLimited(ctx, p.Name, p.Limit)
	case p.Lease > 0:
		return c.lock.(Leased).AcquireFor(ctx, p.Name, p.Lease)
	case p.Timeout > 0:
		return c.lock.(Waiting).AcquireWithin(ctx, p.Name, p.Timeout)
	}
	return c.lock.Acquire(ctx, p.Name)
}

// fenced returns the fencing token of a slot that was just acquired; 0 if the lock has no tokens.
func (c *client) fenced(name string, slot int) (int64, error) {
	f, ok := c.lock.(Fencing)
	if !ok {
		return 0, nil
	}
	token := f.Token(name, slot)
	if token < 1 || token > history.MaxToken {
		return 0, fmt.Errorf("Token %s %d returned %d: expected 1 to %d", name, slot, token, int64(history.MaxToken))
	}
	return token, nil
}

// Token returns the fencing token that the last operation was granted. It implements [foreign.Fenced].
func (c *client) Token() int64 { return c.token }

// Explanation returns the error text of the last operation. It implements [foreign.Explainer].
func (c *client) Explanation() string { return c.said }

// Kill simulates a crash as far as possible: the results of calls under way are ignored. The caller of Kill cuts the
// client's connections.
func (c *client) Kill() error {
	c.ended = true
	c.end()
	return nil
}

// Pause returns [foreign.ErrUnsupported], since a Go value cannot be suspended.
func (c *client) Pause() error { return foreign.ErrUnsupported }

// Continue does nothing, since a client cannot be paused.
func (c *client) Continue() error { return nil }

// closeLimit is the maximum time for a client's Close to return.
const closeLimit = 10 * time.Second

// closing is how long Close waits for a call that Call has stopped waiting for, since calls of a lock may not
// overlap. After that the client is closed anyway.
const closing = time.Second

// Close closes the client. Errors of a killed client are ignored, since its connections were cut.
func (c *client) Close() error {
	c.end()
	if c.lock == nil {
		return nil
	}
	if busy := c.busy.Load(); busy != nil {
		select {
		case <-*busy:
		case <-time.After(closing):
		}
	}
	done := make(chan error, 1)
	go func() { done <- guarded("Close", c.lock.Close) }()
	select {
	case err := <-done:
		if err != nil && !c.ended {
			return fmt.Errorf("closing: %w", err)
		}
	case <-time.After(closeLimit):
		return fmt.Errorf("closing: Close has not returned within %v, and its goroutine is left", closeLimit)
	}
	return nil
}
