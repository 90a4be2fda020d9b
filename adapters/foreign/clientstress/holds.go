package clientstress

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockproof/lockproof/model/history"
	"github.com/lockproof/lockproof/model/lock"
)

// Holds makes clients hold the lock for a long time, instead of in rounds. Each client tries to acquire the lock until
// it is granted, and then verifies it at intervals. The first client holds the lock before the others begin. A cluster
// needs seconds to notice that a node is gone; rounds would end before that.
type Holds struct {
	// For is the duration of a hold until its client releases it; 0 means until the end.
	For time.Duration
	// Verify is the pause between two verifies of a holder. Again is the pause between two attempts to acquire.
	Verify, Again time.Duration
	// SetUp creates on the broker what clients need for the lock. Close is called with the lock's name when all clients
	// have ended. Either may be nil.
	SetUp, Close func(ctx context.Context, lock string) error
	// Begun is called when the first client holds the lock. record writes a fault of the machines to the history.
	Begun func(record func(history.Event))
	// Over is closed by the caller to end all attempts and holds. The audit then begins.
	Over <-chan struct{}
}

// Told is a message that a client received unasked while it held the lock, and by which it could know that it may have
// lost the lock.
type Told struct {
	Process int32
	At      int64 // time in the history, in nanoseconds
	How     string
}

// firstTries is the maximum number of attempts of the first client to acquire the lock, before the others begin.
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

// first makes the first client acquire the lock. It returns an error if the lock is not granted.
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

// holdOn acquires and holds the lock again and again until the holds are over. If the client cannot start, because its
// node is down, holdOn tries again later.
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

// released is the time at which a hold that begins now is to be released; the zero time means never.
func (c *client) released() time.Time {
	if c.config.Holds.For == 0 {
		return time.Time{}
	}
	return time.Now().Add(c.config.Holds.For)
}

// ask lets the client verify the lock. A client without verify is restarted if it knows that it has lost a connection,
// as its user would do.
func (c *client) ask(ctx context.Context) {
	switch {
	case c.life.offers(lock.Verify):
		c.Call(ctx, lock.Verify, 0)
	case c.life.lost():
		c.crash()
	}
}

// pause waits for d. It returns false at once when the holds are over.
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

// session is what the connections of one life of a client mean for its hold.
type session struct {
	mu        sync.Mutex
	acquiring bool
	holding   bool
	since     time.Time // time when the client was granted the lock
	gone      bool      // a connection has ended on which the hold may depend, and the client could know that
	over      bool      // the client has ended
}

// watch makes the client reach its node through a relay, which reports how connections end. It is used for RabbitMQ
// only, where the end of a connection can free a lock.
func (l *life) watch(s *runner, url string) (string, error) {
	made, err := newRelay(url, func(n notice) { s.noticed(l, n) })
	if err != nil {
		return "", err
	}
	l.relay = made
	return made.URLFor(url)
}

// noticed handles the end of a client's connection. It is recorded while the client runs, if a hold may depend on the
// connection: the client holds the lock and had this connection when it was granted, or the client is acquiring and has
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

// begins updates the session before an operation.
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

// ends updates the session after an operation. done says that its outcome is ok, and held that the client holds the
// lock.
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

// lost reports whether a connection has ended on which the client's hold may depend, and the client could know that.
func (l *session) lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// quiet stops recording ends of connections, because the client is about to be ended.
func (l *session) quiet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}
