package clientstress

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Holds makes clients hold the lock for long, without a barrier. Each client tries to acquire it until it is granted, and
// then verifies it at intervals. The first client holds it before the others begin. Rounds would end before a cluster
// notices that a node is gone, which takes seconds; holds last longer.
type Holds struct {
	// For is the duration of a hold before it is released; 0 is until the end.
	For time.Duration
	// Verify is the pause between two verifies of a hold, and Again the pause between two attempts to acquire.
	Verify, Again time.Duration
	// SetUp makes what clients of the lock expect on the broker. Close is called with the lock's name when all clients have
	// ended. Either may be nil.
	SetUp, Close func(ctx context.Context, lock string) error
	// Begun is called when the first client holds the lock. Its argument is a function that records a fault of machines in
	// the history.
	Begun func(record func(history.Event))
	// Over ends all attempts and holds, for the audit to begin.
	Over <-chan struct{}
}

// Told is a message that a client received, unasked, while it held the lock, and that showed that it may have lost the lock.
type Told struct {
	Process int32
	At      int64 // time in the history, in nanoseconds
	How     string
}

// firstTries is the maximum number of attempts of the first client, when it is alone, to acquire the lock.
const firstTries = 20

// holdLong lets the first client acquire the lock. Then all clients hold the lock, or try to, until Holds.Over or the end of
// ctx.
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

// first makes the first client acquire the lock.
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

// holdOn acquires and holds the lock again and again until the holds are over. A client that cannot begin, since its node is
// down, tries again.
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

// released returns when a hold that begins now is to be released; the zero time is never.
func (c *client) released() time.Time {
	if c.config.Holds.For == 0 {
		return time.Time{}
	}
	return time.Now().Add(c.config.Holds.For)
}

// ask verifies the lock. A client without verify that was told that it lost a connection is restarted, as its user would
// have to do.
func (c *client) ask(ctx context.Context) {
	switch {
	case c.life.offers(lock.Verify):
		c.Call(ctx, lock.Verify, 0)
	case c.life.lost():
		c.crash()
	}
}

// pause waits for d. It returns false if the holds are over.
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

// session is the state of the connections of one life of a client.
type session struct {
	mu        sync.Mutex
	acquiring bool
	holding   bool
	since     time.Time // time of the grant
	gone      bool      // the client was told that a connection has ended on which its hold may depend
	over      bool      // its life has ended
}

// watch makes the client reach its node through a relay, which reports how connections end. Only for RabbitMQ does the end
// of a connection concern a lock.
func (l *life) watch(s *runner, url string) (string, error) {
	made, err := newRelay(url, func(n notice) { s.noticed(l, n) })
	if err != nil {
		return "", err
	}
	l.relay = made
	return made.URLFor(url)
}

// noticed handles the end of a client's connection. It records the end only during the client's life, and only if a hold may
// depend on the connection: the client holds the lock and had the connection at the grant, or the client is acquiring and
// has not closed the connection itself.
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

// begins records the beginning of an operation.
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

// ends records the end of an operation: whether it was done, and whether the client holds the lock.
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

// lost reports whether the client was told that a connection has ended on which its hold may depend.
func (l *session) lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// quiet ends the recording of messages, since the client's life ends.
func (l *session) quiet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}
