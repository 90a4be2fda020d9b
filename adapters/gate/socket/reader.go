// Package socket reads what a client writes, and knows at any moment whether the client has written something that was not
// handed on yet. A gate that waits until every client is at rest has to know that.
package socket

import (
	"net"
	"sync"
	"syscall"
)

// Local is a connection within the process: what a socket is, without the kernel.
type Local interface {
	net.Conn
	// TryRead reads what there is. It is false where that is nothing.
	TryRead(b []byte) (n int, err error, done bool)
	// Await waits until there is something to read, and Unread reports whether there is, or the end.
	Await()
	Unread() bool
}

// Reader reads a socket. One goroutine calls Read and says by Stalled, Goes and Done what it does with what it has read. Behind
// may be called from any.
type Reader struct {
	socket net.Conn
	local  Local           // the socket where it is one within the process, otherwise nil
	raw    syscall.RawConn // of the socket, nil where it has none

	mu    sync.Mutex
	state state
	// caughtUp is to be called once all was read and handed on; nil where nobody wants to know.
	caughtUp func()
}

// state is what the goroutine does that reads.
type state uint8

const (
	busy    state = iota // with something that the client has written, or with the end of its socket
	waiting              // it has read all, and waits for more
	stalled              // it cannot go on before somebody else does
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

// Behind reports whether the client has written something, or closed its socket, and it was not handed on yet. caughtUp is then
// called once it was, holding no locks, unless the next call replaces it. Behind knows of everything that a client on the same
// machine has written before its next visible action; data from elsewhere may still be on its way. Data does not count if it
// cannot be handed on before somebody else acts.
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

// Stalled says that the goroutine that reads cannot go on before somebody else does, and Goes that it goes on.
func (r *Reader) Stalled() { r.is(stalled) }

// Goes says that the goroutine that reads goes on.
func (r *Reader) Goes() { r.is(busy) }

// Done says that nothing is read any more.
func (r *Reader) Done() { r.is(done) }

// is notes what the goroutine does now that reads, and tells whoever waits for it.
func (r *Reader) is(now state) {
	r.mu.Lock()
	caughtUp := r.isLocked(now)
	r.mu.Unlock()
	if caughtUp != nil {
		caughtUp()
	}
}

// isLocked is for who holds mu, and calls what it returns, unless that is nil, when mu is free.
func (r *Reader) isLocked(now state) (caughtUp func()) {
	r.state = now
	if now != busy {
		caughtUp, r.caughtUp = r.caughtUp, nil
	}
	return caughtUp
}

// receiveLocal reads from a connection within the process, as receive does from a socket.
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
