package clientstress

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Holds has clients hold the lock for long, with no barrier: each tries to acquire it until it is granted, and verifies in a
// rhythm while it holds it. The first client holds it before the others begin. Rounds are over too soon for a cluster that
// takes seconds to notice that a node is gone; holds last until it has.
type Holds struct {
	// For is how long a hold lasts before it is released; 0 is until the end.
	For time.Duration
	// Verify is the pause between two verifies of a hold, and Again that between two attempts to acquire.
	Verify, Again time.Duration
	// SetUp makes what clients of the lock expect on the broker; Close is given the lock when all clients have ended. Either may be
	// nil.
	SetUp, Close func(ctx context.Context, lock string) error
	// Begun is called when the first client holds the lock. It is given a function that puts a fault of machines into the
	// history.
	Begun func(record func(history.Event))
	// Over ends all attempts and holds, for the audit to begin.
	Over <-chan struct{}
}

// Told is what a client was told unasked while it held the lock: how it could know that it does not any more.
type Told struct {
	Process int32
	At      int64 // by the history's clock, in nanoseconds
	How     string
}

// firstTries is how often the first client tries to acquire the lock, which nobody else does.
const firstTries = 20

// holdLong has the first client be granted the lock, and then all hold it, or try to, until it is over.
func (s *runner) holdLong(ctx context.Context) {
	if err := s.first(ctx); err != nil {
		s.stop(err)
		return
	}
	s.config.Holds.Begun(s.recorder.Machines)
	var workers sync.WaitGroup
	for _, c := range s.clients {
		workers.Go(func() { c.holdOn(ctx) })
	}
	workers.Wait()
}

// first has the first client hold the lock.
func (s *runner) first(ctx context.Context) error {
	c := s.clients[0]
	for range firstTries {
		if err := c.ready(ctx); err != nil {
			return err
		}
		if c.Call(ctx, lock.Acquire, 0); c.held > 0 {
			return nil
		}
		if !c.pause(ctx, s.config.Holds.Again) {
			break
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("client 1 alone is not granted the lock in %d attempts, before any fault", firstTries)
}

// holdOn acquires and holds until it is over. A client that cannot begin, since its node is down, tries again.
func (c *client) holdOn(ctx context.Context) {
	until := c.released()
	for c.pause(ctx, 0) {
		switch {
		case c.ready(ctx) != nil:
			c.pause(ctx, c.config.Holds.Again)
		case c.held == 0:
			if c.Call(ctx, lock.Acquire, 0); c.held == 0 {
				c.pause(ctx, c.config.Holds.Again)
			}
			until = c.released()
		case !until.IsZero() && time.Now().After(until):
			c.Call(ctx, lock.Release, 0)
			c.pause(ctx, c.config.Holds.Again)
		default:
			c.pause(ctx, c.config.Holds.Verify)
			c.ask(ctx)
		}
	}
}

// released is when a hold that begins now is released, the zero time for never.
func (c *client) released() time.Time {
	if c.config.Holds.For == 0 {
		return time.Time{}
	}
	return time.Now().Add(c.config.Holds.For)
}

// ask verifies. A client without verify that was told of a loss begins anew, as its user would have to.
func (c *client) ask(ctx context.Context) {
	switch {
	case c.life.offers(lock.Verify):
		c.Call(ctx, lock.Verify, 0)
	case c.life.lost():
		c.crash()
	}
}

// pause waits. It is false when it is over.
func (c *client) pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-c.config.Holds.Over:
		return false
	case <-ctx.Done():
		return false
	default:
	}
	if d == 0 {
		return true
	}
	select {
	case <-c.config.Holds.Over:
		return false
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// session is what is known of the connections of one life of a client.
type session struct {
	mu        sync.Mutex
	acquiring bool
	holding   bool
	since     time.Time // of the grant
	gone      bool      // it was told that a connection has ended that it had at the grant
	over      bool      // its life has ended
}

// watch has the client reach its node through a relay, which tells how its connections end. They mean nothing to a lock on
// another server than RabbitMQ.
func (l *life) watch(s *runner, url string) (string, error) {
	made, err := newRelay(url, func(n notice) { s.noticed(l, n) })
	if err != nil {
		return "", err
	}
	l.relay = made
	return made.URLFor(url)
}

// noticed handles the end of a client's connection. It records this only while the client's life lasts, and only if a hold
// ends or may end by it: the client holds the lock and had the connection when it got it, or the client is acquiring and has
// not closed the connection itself.
func (s *runner) noticed(l *life, n notice) {
	l.mu.Lock()
	held := l.holding && !n.opened.After(l.since)
	tells := !l.over && (held || l.acquiring && !n.asked)
	l.gone = l.gone || tells
	l.mu.Unlock()
	if !tells {
		return
	}
	s.recorder.World(history.Gone, l.process)
	s.telling.Lock()
	defer s.telling.Unlock()
	if held {
		s.told = append(s.told, Told{Process: l.process, At: s.recorder.Now(), How: n.how})
	}
}

// begins notes that an operation begins.
func (l *session) begins(op lock.Op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch op {
	case lock.Acquire:
		l.acquiring = true
	case lock.Release:
		l.holding = false
	}
}

// ends notes what an operation came to.
func (l *session) ends(op lock.Op, done, held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case op == lock.Acquire:
		l.acquiring = false
		if done && held {
			l.holding, l.since, l.gone = true, time.Now(), false
		}
	case op == lock.Verify && !(done && held):
		l.holding = false
	}
}

// lost reports whether the client was told that a connection has ended that it had when it was granted the lock.
func (l *session) lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// quiet has nothing be put down any more: the life ends.
func (l *session) quiet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}
