package rabbitmq

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/history"
)

// disconnectObserver finds out when the broker has dropped everything of a dead connection, and records that: later than it
// happened, never earlier. An exclusive queue of a dead connection is certainly dropped when
//
//   - the broker tells the disconnect observer, on its own connection, that the queue does not exist; or
//   - the broker tells another client that the client owns the queue now. (The client still owns the queue when it reads
//     that, so it did not own the queue before the dead connection did.)
//
// A command that was on its way when the connection died may be carried out later, and the dead connection may then get a
// queue that was seen gone. If such a command was not answered, evidence counts only if it was requested after both of
// these:
//
//   - The connection's marker is gone. This is a queue exclusive to the connection that was declared when the connection was
//     opened. Without it, the broker's process for the connection has ended, and reads nothing more.
//   - Then settleDelay has passed: a declare that was under way may still make its queue, until it sees that its owner has
//     ended.
//
// Exclusive queues are dropped one by one, in no order: the marker says nothing about the others. Without evidence before
// noticeLimit, nothing is recorded.
type disconnectObserver struct {
	*stressRun
	names    *amqp.Names // names of the run and of markers; used by the observer's goroutine only
	observer *observer
	wake     chan struct{} // has room for one

	mu      sync.Mutex
	lost    []*lostConnection // lost connections about which nothing is certain yet
	over    bool              // no further connection will be lost
	noticed int
}

// lostConnection is a dead connection.
type lostConnection struct {
	process int32
	died    time.Time
	owned   map[amqp.Queue]bool // exclusive queues that may still exist
	asking  bool                // an unanswered command may be carried out later
	settled time.Time           // from then on no command is carried out; zero while unknown
}

// noticeLimit is the maximum time for a broker to notice a closed socket; it takes some milliseconds.
const noticeLimit = 10 * time.Second

// settleDelay is many times longer than a broker takes to carry out a declare.
const settleDelay = 20 * time.Millisecond

func newUndertaker(s *stressRun) *disconnectObserver {
	names, _ := prefixed(s.names, "") // the names fit, as before
	return &disconnectObserver{stressRun: s, names: names, wake: make(chan struct{}, 1)}
}

// release records that a connection is abandoned, before its socket is closed.
func (u *disconnectObserver) release(l *stressLine) {
	d := &lostConnection{process: l.process, died: time.Now(), owned: l.owned, asking: l.asking}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lost = append(u.lost, d)
	u.conclude()
	u.rouse()
}

// granted records an exclusive queue that a connection was given and still has, and when the connection asked for it.
func (u *disconnectObserver) granted(q amqp.Queue, asked time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, d := range u.lost {
		if d.counts(asked) {
			delete(d.owned, q)
		}
	}
	u.conclude()
}

// rest says that no further client dies.
func (u *disconnectObserver) rest() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	u.rouse()
}

func (u *disconnectObserver) rouse() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// conclude records what has become certain, and gives up on what has been uncertain for too long.
func (u *disconnectObserver) conclude() {
	now := time.Now()
	u.lost = slices.DeleteFunc(u.lost, func(d *lostConnection) bool {
		certain := len(d.owned) == 0 && d.counts(now)
		if certain {
			u.recorder.World(history.Gone, d.process)
			u.noticed++
		}
		return certain || now.Sub(d.died) > noticeLimit
	})
}

// counts reports whether evidence counts that was requested at the time asked.
func (d *lostConnection) counts(asked time.Time) bool {
	return !d.asking || !d.settled.IsZero() && asked.After(d.settled)
}

// work investigates lost connections until there are no more, or ctx is done.
func (u *disconnectObserver) work(ctx context.Context) {
	defer u.hangUp()
	for ctx.Err() == nil {
		lost, over := u.open()
		for _, d := range lost {
			if err := u.inquire(ctx, d); err != nil {
				u.hangUp() // perhaps the broker is restarting
			}
		}
		switch {
		case len(lost) > 0:
			sleep(ctx, pollPause)
		case over:
			return
		default:
			select {
			case <-u.wake:
			case <-ctx.Done():
			}
		}
	}
}

// open is the lost connections to investigate, and whether they are the last.
func (u *disconnectObserver) open() ([]*lostConnection, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.conclude()
	return slices.Clone(u.lost), u.over
}

// inquire asks the broker for the queues of a dead connection.
func (u *disconnectObserver) inquire(ctx context.Context, d *lostConnection) error {
	if err := u.ready(ctx); err != nil {
		return err
	}
	if d.asking && d.settled.IsZero() {
		return u.inquireMarker(d)
	}
	u.mu.Lock()
	queues := slices.Collect(maps.Keys(d.owned))
	u.mu.Unlock()
	for _, q := range queues {
		asked := time.Now()
		has, err := u.observer.look(&watched{queue: q})
		if err != nil {
			return err
		}
		if has != exclusive && d.counts(asked) {
			u.mu.Lock()
			delete(d.owned, q)
			u.mu.Unlock()
		}
	}
	return nil
}

func (u *disconnectObserver) inquireMarker(d *lostConnection) error {
	marker := u.names.Intern(u.markerName(d.process))
	has, err := u.observer.look(&watched{queue: marker})
	if err == nil && has == absent {
		u.mu.Lock()
		d.settled = time.Now().Add(settleDelay)
		u.mu.Unlock()
	}
	return err
}

// ready ensures that the observer has a connection.
func (u *disconnectObserver) ready(ctx context.Context) error {
	if u.observer != nil {
		return nil
	}
	u.restarting.RLock()
	defer u.restarting.RUnlock()
	conn, err := u.connect(ctx, u.names)
	if err != nil {
		return err
	}
	u.observer = &observer{conn}
	return u.observer.ready()
}

func (u *disconnectObserver) hangUp() {
	if u.observer != nil {
		u.observer.Close()
		u.observer = nil
	}
}
