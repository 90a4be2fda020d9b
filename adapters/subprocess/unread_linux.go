package subprocess

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// output reads what a program prints. It knows at any moment whether something printed was not handled yet: it is
// still in the pipe, or the goroutine that reads it is still busy with it.
type output struct {
	raw syscall.RawConn

	mu   sync.Mutex
	busy bool
}

// newOutput returns a reader for the end of a pipe, and its output.
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

// Read reads the available data. If there is none, it waits.
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

// holds reports whether a pipe contains data that was not read.
func holds(pipe syscall.RawConn) bool {
	n := 0
	_ = pipe.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n > 0
}

// unread reports whether the process has not yet read everything that was written to it.
func (c *child) unread() bool {
	f, ok := c.stdin.(*os.File)
	if !ok {
		return false
	}
	raw, err := f.SyscallConn()
	return err == nil && holds(raw)
}
