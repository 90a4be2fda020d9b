package subprocess

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// output reads what a program prints, and knows at any moment whether something printed was not handled yet: it is in the
// pipe, or its reader has not come back for more.
type output struct {
	raw syscall.RawConn

	mu   sync.Mutex
	busy bool
}

// newOutput reads from the end of a pipe.
func newOutput(from stream) (io.Reader, *output) {
	o := new(output)
	f, ok := from.(*os.File)
	if !ok {
		return from, o
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return from, o
	}
	o.raw = raw
	return o, o
}

// Read reads the available data, and waits until there is some.
func (o *output) Read(b []byte) (n int, err error) {
	var failed error
	err = o.raw.Read(func(fd uintptr) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		n, failed = unix.Read(int(fd), b)
		o.busy = !errors.Is(failed, unix.EAGAIN)
		return o.busy
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, os.NewSyscallError("read", failed)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// unread reports whether something printed was not handled yet.
func (o *output) unread() bool {
	if o.raw == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.busy || holds(o.raw)
}

// holds reports whether a pipe contains data.
func holds(pipe syscall.RawConn) bool {
	n := 0
	_ = pipe.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n > 0
}

// unread reports whether data was written to the process that the process has not read.
func (c *child) unread() bool {
	f, ok := c.stdin.(*os.File)
	if !ok {
		return false
	}
	raw, err := f.SyscallConn()
	return err == nil && holds(raw)
}
