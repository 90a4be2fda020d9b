package wire

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// outbox buffers the output for a socket, so that callers never wait for the socket.
type outbox struct {
	limit  int // number of unread bytes beyond which add returns an error
	budget *budget
	offer  func([]byte) int // writes as much as possible without waiting; nil if the socket cannot do that
	kick   chan struct{}    // signals run that the outbox has changed
	room   chan struct{}    // signals that data was written, so that there is room

	mu        sync.Mutex
	buf       []byte
	heartbeat time.Duration // a heartbeat is written after this time without other output; 0 means never
	finishing bool          // nothing more will be added
	stopped   bool
	writing   bool   // run is writing data that it took from buf
	wrote     bool   // data was written directly by offer since the last heartbeat was due
	spare     []byte // buffer for data that offer writes directly
}

func newOutbox(s *Server) *outbox {
	return &outbox{limit: s.config.MaxUnread, budget: &s.budget, kick: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// add appends output. It returns an error if a bound is exceeded.
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
	// The limit for all clients' messages cuts off only a client that does not read.
	if r := o.budget.take(len(o.buf) - before); r != nil && len(o.buf) > maxUnread {
		return r
	}
	if len(o.buf) > o.limit {
		return fmt.Errorf("more than %d bytes are left unread: %w", o.limit, ErrBound)
	}
	return nil
}

// beat sets the time without other output after which a heartbeat is written; 0 means never.
func (o *outbox) beat(every time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heartbeat = every
	signal(o.kick)
}

// finish ends the outbox once everything is written. stop ends it at once.
func (o *outbox) finish() { o.end(&o.finishing) }
func (o *outbox) stop()   { o.end(&o.stopped) }

func (o *outbox) end(how *bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	*how = true
	signal(o.kick)
}

// waiting is the number of bytes that are not yet written.
func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped {
		return 0
	}
	return len(o.buf)
}

// signal sends on a channel with a buffer of one, unless a signal is already in it.
func signal(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}

// run writes to the socket until the outbox ends or writing fails. It calls beaten for each heartbeat that it writes.
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

// active reports whether offer has written data directly since the last call.
func (o *outbox) active() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	wrote := o.wrote
	o.wrote = false
	return wrote
}

// drop discards the unwritten output.
func (o *outbox) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.budget.give(len(o.buf))
	o.buf, o.stopped = nil, true
}

// reusable is b, or nil if b is too large to be kept for reuse.
func reusable(b []byte) []byte {
	if cap(b) > 1<<18 {
		return nil
	}
	return b
}
