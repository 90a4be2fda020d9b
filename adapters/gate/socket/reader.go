// Package socket reads what a client writes. It knows at any moment whether the client has written something that was not
// handed on yet, which a gate needs to know to wait until every client is at rest.
package socket

import (
	"net"
	"sync"
	"syscall"
)

// Local is a connection within the process: it replaces a socket, without the kernel.
type Local interface {
	net.Conn
	// TryRead reads the available data. done is false if there is none.
	TryRead(b []byte) (n int, err error, done bool)
	// Await waits until there is something to read. Unread reports whether there is data to read, or the end.
	Await()
	Unread() bool
}

// Reader reads a socket. One goroutine calls Read, and says with Stalled, Goes and Done what it does with the data. Behind
// may be called from any goroutine.
type Reader struct {
	socket net.Conn
	local  Local           // the socket, if it is within the process; otherwise nil
	raw    syscall.RawConn // of the socket, nil if it has none

	mu    sync.Mutex
	state state
	// caughtUp is to be called once everything was read and handed on; nil if there is no one to notify.
	caughtUp func()
}

// state is what the reading goroutine does.
type state uint8

const (
	busy    state = iota // it handles data of the client, or the end of the socket
	waiting              // it has read everything, and waits for more
	stalled              // it cannot continue until another goroutine acts
	done
)

// NewReader is a reader of a socket.
func NewReader(socket net.Conn) *Reader {
	r := &Reader{socket: socket}
	switch s := socket.(type) {
	case Local:
		r.local = s
	case syscall.Conn:
		r.raw, _ = s.SyscallConn()
	}
	return r
}

// Read reads from the socket.
func (r *Reader) Read(b []byte) (int, error) {
	n, err := r.receive(b)
	quickAck(r.raw)
	return n, err
}

// Behind reports whether the client has written something, or closed its socket, and that was not handed on yet. If so,
// caughtUp is called once it was handed on, without holding locks, unless a later call of Behind replaces it. Behind knows
// of everything that a client on the same machine has written before its next visible action; data from other machines may
// still be on its way. Data that cannot be handed on until another goroutine acts does not count.
//
// On systems other than Unix, Behind knows only of data that was read from the socket.
func (r *Reader) Behind(caughtUp func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	behind := r.state == busy || r.state == waiting && r.unread()
	if behind {
		r.caughtUp = caughtUp
	}
	return behind
}

// Stalled says that the reading goroutine cannot continue until another goroutine acts. Goes ends that.
func (r *Reader) Stalled() { r.is(stalled) }

// Goes says that the reading goroutine continues.
func (r *Reader) Goes() { r.is(busy) }

// Done says that reading has ended.
func (r *Reader) Done() { r.is(done) }

// is sets the state of the reading goroutine, and notifies those who wait for it.
func (r *Reader) is(now state) {
	r.mu.Lock()
	caughtUp := r.isLocked(now)
	r.mu.Unlock()
	if caughtUp != nil {
		caughtUp()
	}
}

// isLocked is called with mu held. The caller calls the result, unless it is nil, after it has released mu.
func (r *Reader) isLocked(now state) (caughtUp func()) {
	r.state = now
	if now != busy {
		caughtUp, r.caughtUp = r.caughtUp, nil
	}
	return caughtUp
}

// receiveLocal is receive for a connection within the process.
func (r *Reader) receiveLocal(b []byte) (int, error) {
	for {
		r.mu.Lock()
		n, err, done := r.local.TryRead(b)
		now := busy
		if !done {
			now = waiting
		}
		caughtUp := r.isLocked(now)
		r.mu.Unlock()
		if caughtUp != nil {
			caughtUp()
		}
		if done {
			return n, err
		}
		r.local.Await()
	}
}

// receiveAny reads from a socket of any kind.
func (r *Reader) receiveAny(b []byte) (int, error) {
	r.is(waiting)
	n, err := r.socket.Read(b)
	r.is(busy)
	return n, err
}
