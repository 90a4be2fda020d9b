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

// Lock is one client of locks, with a connection of its own to the broker. Its methods are called one at
// a time. An error leaves open whether the call had an effect, unless ErrNoEffect is in it.
type Lock interface {
	// Acquire tries to get a slot of a lock: its number, counted from 1, or 0 if all are taken.
	Acquire(ctx context.Context, name string) (slot int, err error)
	// Verify tells whether this client still holds a slot. A lost connection is an answer, not an error.
	Verify(ctx context.Context, name string, slot int) (held bool, err error)
	// Release gives a slot back.
	Release(ctx context.Context, name string, slot int) error
	// Close gives back what the client itself takes: its connection.
	Close() error
}

// Administrator is a Lock that can say how many slots a lock has. One that is none is taken for a mutex.
type Administrator interface {
	Lock
	// Create makes a lock with that many slots; Destroy takes them all away.
	Create(ctx context.Context, name string, slots int) error
	Destroy(ctx context.Context, name string) error
	// Count is how many slots a lock has, held or not.
	Count(ctx context.Context, name string) (slots int, err error)
}

// Resizer is an Administrator that can change the number of slots later.
type Resizer interface {
	Administrator
	Add(ctx context.Context, name string, slots int) error
	Remove(ctx context.Context, name string, slots int) error
}

// Waiter is a Lock that can wait until nobody holds a slot.
type Waiter interface {
	Lock
	Wait(ctx context.Context, name string, slot int) error
}

// Waiting is a Lock whose clients can wait for a slot that others hold, no longer than timeout: 0 if there was none.
type Waiting interface {
	Lock
	AcquireWithin(ctx context.Context, name string, timeout time.Duration) (slot int, err error)
}

// Several is a Lock that says whether a client may hold several locks at once, of different names.
type Several interface {
	Lock
	Several() bool
}

// Fencing is a Lock that gives fencing tokens: Token is that of the slot that the last call has acquired, from 1. It is called
// when an acquire has said yes.
type Fencing interface {
	Lock
	Token(name string, slot int) int64
}

// Limited is a Lock whose callers state how many may hold it at once, and may differ. A semaphore that is one, and no
// Administrator, has no slots, so that any number from 1 is as good.
type Limited interface {
	Lock
	AcquireLimited(ctx context.Context, name string, limit int) (slot int, err error)
}

// Leased is a Lock whose holds end by themselves after a time, as locks with leases on Redis do: each acquire is told how long
// that is.
type Leased interface {
	Lock
	AcquireFor(ctx context.Context, name string, lease time.Duration) (slot int, err error)
}

// ErrNoEffect is, somewhere in it, the error of a call that certainly had no effect.
var ErrNoEffect = errors.New("no effect")

// ErrNoAdministrator is the error of a lock with slots whose client is no Administrator.
var ErrNoAdministrator = errors.New("no Administrator: expected Create, Destroy and Count besides what a mutex has")

// New makes a client, connected to the server at a URL, or to several at URLs with commas between them. The context ends when the
// client does.
type New func(ctx context.Context, url string) (Lock, error)

// Starter starts clients by a constructor. It implements [foreign.Starter].
type Starter struct {
	Name string
	New  New
}

// Start makes a client. It is constructed with the first call, which says where the broker is.
func (s Starter) Start(context.Context, int) (foreign.Client, error) {
	c := &client{starter: s, jobs: make(chan func())}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c, nil
}

// notAdministrator says why a lock with slots is no Administrator. One that has some of the methods may be meant to be one, and
// is not taken for a mutex.
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
	lock    Lock // nil until it is made
	ctx     context.Context
	end     context.CancelFunc
	ended   bool                          // by Kill
	busy    atomic.Pointer[chan struct{}] // closed when the last call is over; nil before the first
	jobs    chan func()                   // to a goroutine that has carried out calls before, if one waits
	said    string                        // by the error of the last operation
	token   int64                         // that came with what it was granted
}

// Initialize makes the client and looks what it can do.
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
		about.Waits = false // who is told for how long is not told to wait
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

// connect makes the lock. When ctx is done the client's context ends, and shortly after that a constructor that has not
// returned is left where it is: what it still makes is closed.
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
			_ = guarded("Close", made.Close) // nobody is there any more to be told
		}
	}()
	return nil, fmt.Errorf("%w: %w", context.Cause(ctx), foreign.ErrLeft)
}

// Call carries out one operation, and leaves it where it is when ctx is done. The next call waits for it.
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

// do has a goroutine do something, one that has done so before if there is one: its stack has grown already.
func (c *client) do(job func()) {
	select {
	case c.jobs <- job:
	default:
		go c.work(job)
	}
}

// work does one thing after the other until the client ends.
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

// call carries out one operation. said is the error of one that failed or whose result is unknown.
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

// acquire acquires a lock in the way that the call asks for.
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

// fenced is the fencing token of a slot that was just acquired, 0 where there are none.
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

// Token is the fencing token that came with what the last operation was granted. It implements [foreign.Fenced].
func (c *client) Token() int64 { return c.token }

// Explanation is the error of the last operation. It implements [foreign.Explainer].
func (c *client) Explanation() string { return c.said }

// Kill is all of a crash that there can be: its connections are cut by whoever calls it.
func (c *client) Kill() error {
	c.ended = true
	c.end()
	return nil
}

// Pause is not to be had.
func (c *client) Pause() error { return foreign.ErrUnsupported }

// Continue has nothing to do.
func (c *client) Continue() error { return nil }

// closeLimit is how long closing a client may take.
const closeLimit = 10 * time.Second

// closing is how long a call that was left where it is may take to end, since a lock is called for one thing at a time.
// After that the client is closed all the same.
const closing = time.Second

// Close closes the client. One that was killed has lost its connections, and what it says to that is of
// no interest.
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
