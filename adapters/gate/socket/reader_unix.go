//go:build unix

package socket

import (
	"io"
	"os"
	"syscall"
)

// receiving holds the arguments and results of one read from a socket.
type receiving struct {
	r   *Reader
	b   []byte
	n   int
	err error
}

// receive reads from the socket. Reading data and leaving the state "waiting" are one atomic step.
func (r *Reader) receive(b []byte) (int, error) {
	switch {
	case r.local != nil:
		return r.receiveLocal(b)
	case r.raw == nil:
		return r.receiveAny(b)
	}
	x := receiving{r: r, b: b}
	if err := r.raw.Read(x.try); err != nil {
		r.is(busy)
		return 0, err
	}
	switch {
	case x.err != nil:
		return 0, os.NewSyscallError("read", x.err)
	case x.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return x.n, nil
}

// try reads the available data. It returns false if there is none; then it is called again when there is data.
func (x *receiving) try(socket uintptr) bool {
	r := x.r
	r.mu.Lock()
	x.n, x.err = syscall.Read(int(socket), x.b)
	for x.err == syscall.EINTR {
		x.n, x.err = syscall.Read(int(socket), x.b)
	}
	now := busy
	if x.err == syscall.EAGAIN {
		now = waiting
	}
	caughtUp := r.isLocked(now)
	r.mu.Unlock()
	if caughtUp != nil {
		caughtUp()
	}
	return now == busy
}

// unread reports whether the socket has data to read, or its end. The caller holds mu.
func (r *Reader) unread() bool {
	switch {
	case r.local != nil:
		return r.local.Unread()
	case r.raw == nil:
		return false
	}
	unread := true // stays true if the socket is closed, since the reader may not have seen that yet
	_ = r.raw.Control(func(socket uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(socket), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		unread = err != syscall.EAGAIN && err != syscall.EINTR
	})
	return unread
}

// offer writes as much of b to the socket as it accepts without waiting, and returns the number of bytes.
func (r *Reader) offer(b []byte) (n int) {
	_ = r.raw.Write(func(socket uintptr) bool { // if this fails, the next write fails too
		n, _ = syscall.Write(int(socket), b)
		return true
	})
	return max(n, 0)
}

// Offering returns a function that writes as much of b as the socket accepts without waiting, and returns the number
// of bytes written. It returns nil if the socket does not support that.
func (r *Reader) Offering() func(b []byte) int {
	if r.raw == nil {
		return nil
	}
	return r.offer
}
