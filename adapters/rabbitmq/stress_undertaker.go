package rabbitmq

import (
	"context"
	"sync"
	"time"

	"github.com/lockproof/lockproof/model/amqp"
	"github.com/lockproof/lockproof/model/spec"
)

// undertaker finds out when the broker has dropped all that a dead connection had, and has it
// recorded. It asks from a connection of its own, and takes nothing for certain but this:
//
//  1. The connection's marker is gone, a queue exclusive to it that it declared when it was opened.
//     A queue goes that way only once the broker's process for the connection has ended. What was
//     still on its way from the client is not read any more. A declare that was being carried out
//     may make its queue even so, for the instant that it takes to see that its owner has ended:
//     where one was not answered, aftermath is let pass.
//  2. Each other exclusive queue that it had, or may have got by its last, unanswered commands, is
//     gone as well: they go one by one, in no order. Either the broker says so, or it gave the queue
//     to another connection that asked for it after the marker was seen gone. (That somebody else
//     asked earlier and was given it proves nothing: the dead one's command might have come after.)
//
// The record comes later than what it tells of, never earlier. Where there is no evidence before
// noticeLimit, there is no record.
type undertaker struct {
	*stress
	names    *amqp.Names // the run's, and those of markers; the undertaker's goroutine's own
	observer *observer
	wake     chan struct{} // has room for one

	mu      sync.Mutex
	deaths  []*death // that were not looked into
	over    bool     // there will be no more
	grants  map[amqp.Queue]time.Time
	noticed int
}

// death is a connection that is dead.
type death struct {
	process int32
	since   time.Time
	marker  amqp.Queue
	dropped time.Time // from when on the connection gets no queue any more; zero before that is known
	owned   map[amqp.Queue]bool
	asking  bool
}

// noticeLimit bounds the time in which a broker notices a closed socket; it takes some milliseconds.
const noticeLimit = 10 * time.Second

// aftermath is many times what a broker takes to carry out a declare.
const aftermath = 20 * time.Millisecond

func newUndertaker(s *stress) *undertaker {
	names, _ := prefixed(s.names, "") // they fit, as they did before
	return &undertaker{stress: s, names: names, wake: make(chan struct{}, 1), grants: make(map[amqp.Queue]time.Time)}
}

// bury is told of a connection whose socket was closed.
func (u *undertaker) bury(l *stressLine) {
	u.mu.Lock()
	u.deaths = append(u.deaths, &death{process: l.process, since: time.Now(), owned: l.owned, asking: l.asking})
	u.mu.Unlock()
	u.rouse()
}

// granted is told of an exclusive queue that a connection was given, and when it began to ask.
func (u *undertaker) granted(q amqp.Queue, asked time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if asked.After(u.grants[q]) {
		u.grants[q] = asked
	}
}

// rest says that nobody dies any more.
func (u *undertaker) rest() {
	u.mu.Lock()
	u.over = true
	u.mu.Unlock()
	u.rouse()
}

func (u *undertaker) rouse() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// work looks into deaths until there are no more, or ctx is done.
func (u *undertaker) work(ctx context.Context) {
	defer u.hangUp()
	var open []*death
	for ctx.Err() == nil {
		u.mu.Lock()
		open, u.deaths = append(open, u.deaths...), nil
		over := u.over
		u.mu.Unlock()
		open = u.inquire(ctx, open)
		switch {
		case len(open) > 0:
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

// inquire looks into deaths and returns those of which nothing is certain yet.
func (u *undertaker) inquire(ctx context.Context, deaths []*death) (open []*death) {
	for _, d := range deaths {
		certain, err := u.certain(ctx, d)
		if err != nil {
			u.hangUp() // perhaps the broker is being restarted
		}
		switch {
		case certain:
			u.recorder.world(spec.Gone, d.process)
			u.noticed++
		case time.Since(d.since) < noticeLimit:
			open = append(open, d)
		}
	}
	return open
}

// certain reports whether the broker has dropped all that a dead connection had.
func (u *undertaker) certain(ctx context.Context, d *death) (bool, error) {
	if err := u.ready(ctx); err != nil {
		return false, err
	}
	if dropped, err := u.dropped(d); !dropped || err != nil {
		return false, err
	}
	for q := range d.owned {
		if u.regranted(q, d.dropped) {
			delete(d.owned, q)
			continue
		}
		if has, err := u.observer.look(&watched{queue: q}); has == exclusive || err != nil {
			return false, err
		}
		delete(d.owned, q)
	}
	return true, nil
}

// dropped reports whether the broker has ended the connection, so that it gets no queue any more.
func (u *undertaker) dropped(d *death) (bool, error) {
	if d.dropped.IsZero() {
		if d.marker == 0 {
			d.marker = u.names.Intern(u.markerName(d.process))
		}
		if has, err := u.observer.look(&watched{queue: d.marker}); has != absent || err != nil {
			return false, err
		}
		d.dropped = time.Now()
		if d.asking {
			d.dropped = d.dropped.Add(aftermath)
		}
	}
	return time.Now().After(d.dropped), nil
}

// regranted reports whether a queue was given to somebody who asked after a moment.
func (u *undertaker) regranted(q amqp.Queue, after time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.grants[q].After(after)
}

func (u *undertaker) hangUp() {
	if u.observer != nil {
		u.observer.Close()
		u.observer = nil
	}
}

// ready makes sure that there is a connection to ask from.
func (u *undertaker) ready(ctx context.Context) error {
	if u.observer != nil {
		return nil
	}
	conn, err := u.connect(ctx, u.names)
	if err != nil {
		return err
	}
	u.observer = &observer{conn}
	return u.observer.ready()
}
