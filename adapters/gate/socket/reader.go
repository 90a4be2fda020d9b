// Package socket reads what a client writes. It knows at any moment whether the client has written something that was
// not handed on yet. A gate needs that to wait until every client is at rest.
package socket

import (
	"net"
	"sync"
	"syscall"
)

// Local is a connection within this process, which replaces a socket.
type Local interface {
	net.Conn
	// TryRead reads the available data. done is false if there is none.
	TryRead(b []byte) (n int, err error, done bool)
	// Await waits until there is something to read. Unread reports whether there is something to read: data, or the
	// end of the connection.
	Await()
	Unread() bool
}

// Reader reads a socket. One goroutine calls Read, and reports with Stalled, Goes and Done whether it can hand the
// data on. Behind may be called from any goroutine.
type Reader struct {
	socket net.Conn
	local  Local           // the connection, if both of its ends are in this process; nil for a socket
	raw    syscall.RawConn // for access to the file descriptor; nil if the socket has none

	mu    sync.Mutex
	state state
	// caughtUp is called when everything that was read is handed on; nil if nothing is to be called.
	caughtUp func()
}

// state is the state of the reading goroutine.
type state uint8

const (
	busy    state = iota // the reading goroutine handles data from the client, or the end of the connection
	waiting              // the reading goroutine has handled everything, and waits for more
	stalled              // the reading goroutine cannot hand data on until another goroutine acts
	done
)

// NewReader returns a reader for a socket.
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

// Read reads from the client's socket, and records whether it waits for data.
func (r *Reader) Read(b []byte) (int, error) {
	n, err := r.receive(b)
	quickAck(r.raw)
	return n, err
}

// Behind reports whether the client has written something, or closed its socket, and that was not handed on yet. If
// so, caughtUp is called when it is handed on, without holding locks, unless a later call of Behind replaces it.
// Behind covers everything that a client on the same machine has written before its next visible action; data from
// other machines may still be on its way. Data that cannot be handed on until another goroutine acts does not count.
//
// On systems other than Unix, Behind covers only data that was read from the socket.
func (r *Reader) Behind(caughtUp func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	behind := r.state == busy || r.state == waiting && r.unread()
	if behind {
		r.caughtUp = caughtUp
	}
	return behind
}

// Stalled records that the reading goroutine cannot hand data on until another goroutine acts. Goes ends that state.
func (r *Reader) Stalled() { r.is(stalled) }

// Goes records that the reading goroutine continues.
func (r *Reader) Goes() { r.is(busy) }

// Done records that reading has ended.
func (r *Reader) Done() { r.is(done) }

// is sets the state of the reading goroutine. Unless the new state is busy, it calls caughtUp.
func (r *Reader) is(now state) {
	r.mu.Lock()
	caughtUp := r.isLocked(now)
	r.mu.Unlock()
	if caughtUp != nil {
		caughtUp()
	}
}

// isLocked sets the state while mu is held. The caller releases mu and then calls the result, unless it is nil.
func (r *Reader) isLocked(now state) (caughtUp func()) {
	r.state = now
	if now != busy {
		caughtUp, r.caughtUp = r.caughtUp, nil
	}
	return caughtUp
}

// receiveLocal reads from a connection within the process.
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
