//go:build unix

package wire

import (
	"io"
	"os"
	"syscall"
)

// receiving is one read from a socket.
type receiving struct {
	c   *Conn
	b   []byte
	n   int
	err error
}

// receive reads from the socket. Reading and clearing the state "waiting" are atomic.
func (c *Conn) receive(b []byte) (int, error) {
	switch {
	case c.memory != nil:
		return c.receiveMemory(b)
	case c.raw == nil:
		return c.receiveAny(b)
	}
	r := receiving{c: c, b: b}
	if err := c.raw.Read(r.try); err != nil {
		c.reads(readerBusy)
		return 0, err
	}
	switch {
	case r.err != nil:
		return 0, os.NewSyscallError("read", r.err)
	case r.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// try reads what there is. It is false where that is nothing, and is called again when there is something.
func (r *receiving) try(socket uintptr) bool {
	c := r.c
	c.mu.Lock()
	r.n, r.err = syscall.Read(int(socket), r.b)
	for r.err == syscall.EINTR {
		r.n, r.err = syscall.Read(int(socket), r.b)
	}
	now := readerBusy
	if r.err == syscall.EAGAIN {
		now = readerWaiting
	}
	caughtUp := c.readsLocked(now)
	c.mu.Unlock()
	if caughtUp != nil {
		caughtUp()
	}
	return now == readerBusy
}

// offering writes to a socket as much as it takes at once.
func offering(raw syscall.RawConn) func([]byte) int {
	return func(b []byte) (n int) {
		_ = raw.Write(func(socket uintptr) bool { // where it fails, so does the next write
			n, _ = syscall.Write(int(socket), b)
			return true
		})
		return max(n, 0)
	}
}

// unread reports whether the socket has something to read, or its end. mu is held.
func (c *Conn) unread() bool {
	switch {
	case c.memory != nil:
		return c.memory.in.unread()
	case c.raw == nil:
		return false
	}
	unread := true // where it is closed, its reader is about to see that
	_ = c.raw.Control(func(socket uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(socket), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		unread = err != syscall.EAGAIN && err != syscall.EINTR
	})
	return unread
}
