package protocol

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/model/amqp/amqplock"
	"github.com/lockproof/lockproof/model/lock"
)

// Guard watches the machines of one protocol during one run.
type Guard struct {
	name   string
	once   sync.Once
	err    atomic.Pointer[Error]
	failed chan struct{} // closed at the first mistake

	inside [methods][16]atomic.Int64 // number of calls under way, by method and operation
	calls  atomic.Int64              // number of finished calls
}

// Error is the first mistake that a machine of a user's protocol has made.
type Error struct {
	Protocol string // name of the protocol
	During   string // the method and the operation, such as "Next of acquire"
	Why      string // what was expected, and what happened instead
}

// Error returns the mistake in one line.
func (e *Error) Error() string {
	return fmt.Sprintf("protocol %s: %s: %s", e.Protocol, e.During, e.Why)
}

// method is the number of a method of [amqplock.Implementation].
type method uint8

const (
	starting method = iota
	choices
	choosing
	next
	pending
	applying
	methods
)

// String returns the method's name.
func (m method) String() string {
	return [...]string{"Start", "Choices", "Choose", "Next", "Pending", "Apply"}[m]
}

// of returns the name of a method and of the operation in which it is called, for example "Next of acquire".
func of(m method, op lock.Op) string { return fmt.Sprintf("%s of %s", m, op) }

// New returns a lock target for a user's protocol, and the guard of its machines. Each run needs a new target and
// guard.
func New(name string, kind lock.Kind, variant func(*amqplock.Protocol) amqplock.Implementation) (*lock.Target, *Guard) {
	g := &Guard{name: name, failed: make(chan struct{})}
	return &lock.Target{Name: name, Kind: kind, Design: amqplock.Design{Variant: func(p *amqplock.Protocol) amqplock.Implementation {
		return &machine{guard: g, own: g.made(p, variant), layout: p.Layout}
	}}}, g
}

// made calls variant, a user's function, to make a machine. If variant panics or returns nil, that is recorded as the
// protocol's mistake, and the reference machine is used.
func (g *Guard) made(p *amqplock.Protocol, variant func(*amqplock.Protocol) amqplock.Implementation) (own amqplock.Implementation) {
	copied := *p // variant may change its copy
	why := "it returned nil"
	defer func() {
		if value := recover(); value != nil {
			why = panicked(value)
		}
		if own == nil {
			own = p
			g.fail("the function that makes it", why)
		}
	}()
	return variant(&copied)
}

// fail records the first mistake and ends the run.
func (g *Guard) fail(during, why string) {
	g.once.Do(func() {
		g.err.Store(&Error{g.name, during, why})
		close(g.failed)
	})
}

// over reports whether a machine has made a mistake.
func (g *Guard) over() bool { return g.err.Load() != nil }

// under returns the name of a call that is under way, if there is one.
func (g *Guard) under() (during string, any bool) {
	for m := range methods {
		for op := range g.inside[m] {
			if g.inside[m][op].Load() > 0 {
				return of(m, lock.Op(op)), true
			}
		}
	}
	return "", false
}

// Patience is the default time limit for one call of a machine's method.
const Patience = 10 * time.Second

// Watch calls do, which uses the machines of a protocol. After the first mistake it cancels do's context, waits until
// do returns, and returns the mistake. If a machine's method does not return within patience, Watch returns without
// waiting for do, since a goroutine cannot be stopped.
func Watch[T any](ctx context.Context, g *Guard, patience time.Duration, do func(context.Context) (T, error)) (result T, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() { done <- o }() // deferred, since a machine may end the goroutine
		o.result, o.err = do(ctx)
	}()
	failed := g.failed
	if patience == 0 {
		patience = Patience
	}
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for last := int64(-1); ; {
		select {
		case o := <-done:
			if e := g.err.Load(); e != nil {
				return result, e
			}
			return o.result, o.err
		case <-failed:
			cancel()
			failed = nil
		case <-tick.C:
			calls := g.calls.Load()
			if during, stuck := g.under(); stuck && calls == last {
				g.fail(during, fmt.Sprintf("it has not returned within %s", patience))
				return result, g.err.Load()
			}
			last = calls
		}
	}
}
