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

// disconnectObserver finds out when the broker has dropped everything of a dead connection, and records that in the
// history. The record may be late, but is never early. An exclusive queue of a dead connection is certainly dropped
// when
//
//   - the broker tells the disconnect observer, on its own connection, that the queue does not exist; or
//   - the broker tells another client that the client owns the queue now. (The client still owns the queue when it reads
//     that, so it did not own the queue before the dead connection did.)
//
// A command that was on its way when the connection died may be carried out later, and the dead connection may then get
// a queue that was seen gone. If such a command was not answered, evidence counts only if it was requested after both
// of these:
//
//   - The connection's marker is gone. This is a queue exclusive to the connection that was declared when the connection was
//     opened. Without it, the broker's process for the connection has ended, and reads nothing more.
//   - Then settleDelay has passed: a declare that was under way may still make its queue, until it sees that its owner has
//     ended.
//
// Exclusive queues are dropped one by one, in any order, so the marker says nothing about the others. Without evidence
// before noticeLimit, nothing is recorded.
type disconnectObserver struct {
	*stressRun
	names    *amqp.Names // names of the run's queues and of markers; only the observer's goroutine uses them
	observer *observer
	wake     chan struct{} // signals that a connection was lost; buffer of one

	mu      sync.Mutex
	lost    []*lostConnection // dead connections that the broker may not have noticed yet
	over    bool              // no client will lose a connection any more
	noticed int
}

// lostConnection is a dead connection that the broker may not have noticed yet.
type lostConnection struct {
	process int32
	died    time.Time
	owned   map[amqp.Queue]bool // exclusive queues of the connection that may still exist
	asking  bool                // a command without a reply may still be carried out
	settled time.Time           // time after which no command of the connection is carried out; zero if unknown
}

// noticeLimit is the maximum time for the broker to notice a closed socket. It usually takes some milliseconds.
const noticeLimit = 10 * time.Second

// settleDelay is a pause that is many times longer than a broker needs to carry out a declare.
const settleDelay = 20 * time.Millisecond

func newUndertaker(s *stressRun) *disconnectObserver {
	names, _ := prefixed(s.names, "") // cannot fail: the names are short enough
	return &disconnectObserver{stressRun: s, names: names, wake: make(chan struct{}, 1)}
}

// release records that a connection is given up. It is called before the socket is closed.
func (u *disconnectObserver) release(l *stressLine) {
	d := &lostConnection{process: l.process, died: time.Now(), owned: l.owned, asking: l.asking}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lost = append(u.lost, d)
	u.conclude()
	u.rouse()
}

// granted records that a live connection owns an exclusive queue, so that no dead one does. asked is when the
// connection requested it.
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

// rest tells the observer that no further client will die.
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

// conclude records the dead connections that the broker has certainly noticed. It drops those that have been uncertain
// for longer than noticeLimit.
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

// counts reports whether evidence that was requested at the time asked is valid: no command of the connection could be
// carried out after it.
func (d *lostConnection) counts(asked time.Time) bool {
	return !d.asking || !d.settled.IsZero() && asked.After(d.settled)
}

// work asks the broker about dead connections until no more can come, or ctx is done.
func (u *disconnectObserver) work(ctx context.Context) {
	defer u.hangUp()
	for ctx.Err() == nil {
		lost, over := u.open()
		for _, d := range lost {
			if err := u.inquire(ctx, d); err != nil {
				u.hangUp() // the broker may be restarting, so the observer reconnects
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

// open is the dead connections to ask about. The second result says that no further ones will come.
func (u *disconnectObserver) open() ([]*lostConnection, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.conclude()
	return slices.Clone(u.lost), u.over
}

// inquire asks the broker which exclusive queues of a dead connection still exist.
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
