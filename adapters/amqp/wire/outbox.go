package wire

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// outbox is the output waiting for a socket. A writer to it does not wait for the socket.
type outbox struct {
	limit  int // bytes beyond which the other side is taken for dead
	budget *budget
	offer  func([]byte) int // writes what the socket takes at once; nil where that can't be told
	kick   chan struct{}    // something has changed
	room   chan struct{}    // something was written

	mu        sync.Mutex
	buf       []byte
	heartbeat time.Duration // written when nothing else was for so long; 0 is never
	finishing bool          // nothing more will be added
	stopped   bool
	writing   bool   // what was taken from buf is on its way
	wrote     bool   // something was since the last heartbeat was due
	spare     []byte // for what is written at once
}

func newOutbox(s *Server) *outbox {
	return &outbox{limit: s.config.MaxUnread, budget: &s.budget, kick: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// add appends to what is to be written. The error is for more than there is room for.
func (o *outbox) add(appendTo func([]byte) []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finishing || o.stopped {
		return nil
	}
	before := len(o.buf)
	if before == 0 && !o.writing && o.offer != nil {
		o.spare = appendTo(reusable(o.spare)[:0])
		o.wrote = true
		if o.buf = append(o.buf, o.spare[o.offer(o.spare):]...); len(o.buf) == 0 {
			return nil
		}
	} else {
		o.buf = appendTo(o.buf)
	}
	signal(o.kick)
	if r := o.budget.take(len(o.buf) - before); r != nil && len(o.buf) > maxUnread { // not who reads
		return r
	}
	if len(o.buf) > o.limit {
		return fmt.Errorf("more than %d bytes are left unread: %w", o.limit, ErrBound)
	}
	return nil
}

// beat has a heartbeat written whenever nothing else was for so long.
func (o *outbox) beat(every time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heartbeat = every
	signal(o.kick)
}

// finish ends the outbox when all is written, stop at once.
func (o *outbox) finish() { o.end(&o.finishing) }
func (o *outbox) stop()   { o.end(&o.stopped) }

func (o *outbox) end(how *bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	*how = true
	signal(o.kick)
}

// waiting is how many bytes are to be written.
func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped {
		return 0
	}
	return len(o.buf)
}

// signal sets a flag that somebody may wait for.
func signal(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}

// run writes until the outbox ends or the socket does. It reports how many heartbeats it made.
func (o *outbox) run(socket net.Conn, beaten func()) error {
	var spare []byte
	defer o.drop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		o.mu.Lock()
		out, every, finishing, stopped := o.buf, o.heartbeat, o.finishing, o.stopped
		o.buf, o.writing = spare[:0], len(out) > 0
		o.mu.Unlock()
		if stopped {
			return nil
		}
		if len(out) > 0 {
			_, err := socket.Write(out)
			o.budget.give(len(out))
			if err != nil {
				o.stop()
				return err
			}
			signal(o.room)
			spare = reusable(out)
			continue
		}
		if finishing {
			return nil
		}
		spare = out
		if every > 0 {
			timer.Reset(every)
		}
		select {
		case <-o.kick:
		case <-timer.C:
			if every > 0 && !o.active() {
				beaten()
				o.add(frame.AppendHeartbeat)
				o.active()
			}
		}
	}
}

// active reports whether something was written at once since it was last asked.
func (o *outbox) active() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	wrote := o.wrote
	o.wrote = false
	return wrote
}

// drop gives up what is not going to be written.
func (o *outbox) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.budget.give(len(o.buf))
	o.buf, o.stopped = nil, true
}

// reusable is a buffer that may be used again: not one that an exceptionally large message has left.
func reusable(b []byte) []byte {
	if cap(b) > 1<<18 {
		return nil
	}
	return b
}
