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
	failed chan struct{} // closed by the first mistake

	inside [methods][16]atomic.Int64 // calls under way, by method and operation
	calls  atomic.Int64              // that are over
}

// Error is a machine's mistake.
type Error struct {
	Protocol string // its name
	During   string // the method and the operation, such as "Next of acquire"
	Why      string // what was expected, and what came
}

// Error is the mistake in one line.
func (e *Error) Error() string {
	return fmt.Sprintf("protocol %s: %s: %s", e.Protocol, e.During, e.Why)
}

// method is a method of [amqplock.Implementation].
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

// String is its name.
func (m method) String() string {
	return [...]string{"Start", "Choices", "Choose", "Next", "Pending", "Apply"}[m]
}

// of names a method's call.
func of(m method, op lock.Op) string { return fmt.Sprintf("%s of %s", m, op) }

// New makes a target of a protocol, and what watches it. Each run has its own.
func New(name string, kind lock.Kind, variant func(*amqplock.Protocol) amqplock.Implementation) (*lock.Target, *Guard) {
	g := &Guard{name: name, failed: make(chan struct{})}
	return &lock.Target{Name: name, Kind: kind, Design: amqplock.Design{Variant: func(p *amqplock.Protocol) amqplock.Implementation {
		return &machine{guard: g, own: g.made(p, variant), layout: p.Layout}
	}}}, g
}

// made calls variant, a user's function, to make a machine. If variant returns nil or panics, this is noted as its mistake,
// and the machine is the reference.
func (g *Guard) made(p *amqplock.Protocol, variant func(*amqplock.Protocol) amqplock.Implementation) (own amqplock.Implementation) {
	copied := *p // what it writes to is its own
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

// fail ends all that goes on.
func (g *Guard) fail(during, why string) {
	g.once.Do(func() {
		g.err.Store(&Error{g.name, during, why})
		close(g.failed)
	})
}

// over reports whether a mistake was made.
func (g *Guard) over() bool { return g.err.Load() != nil }

// under is a call that is under way.
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

// Patience is how long a call may take, unless something else is asked for.
const Patience = 10 * time.Second

// Watch does something with a protocol's machines. It ends with the first mistake, and where a call does not end: what was
// being done is then left behind, as nothing can end it. The function has to end when its context does.
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
		defer func() { done <- o }() // also where a machine ends the goroutine
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
