package socket

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listener accepts connections. It knows at any moment whether a client has connected that is not yet being served.
type Listener struct {
	net.Listener
	file *os.File // the listener's socket, used directly: package net does not tell when it has accepted a client
	raw  syscall.RawConn

	mu     sync.Mutex
	busy   bool // a client was accepted, and is not being served yet
	closed bool
}

// Listen listens on a port of this machine.
func Listen() (*Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	out := &Listener{Listener: l}
	if out.file, err = l.(*net.TCPListener).File(); err == nil {
		out.raw, err = out.file.SyscallConn()
	}
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// Close stops listening.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return errors.Join(l.Listener.Close(), l.file.Close())
}

// isClosed reports whether Close was called.
func (l *Listener) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Accept waits for the next client. Calling it means that the previous client is being served now.
func (l *Listener) Accept() (net.Conn, error) {
	var fd int
	var failed error
	err := l.raw.Read(func(of uintptr) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		fd, _, failed = unix.Accept4(int(of), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		l.busy = !errors.Is(failed, unix.EAGAIN)
		return l.busy
	})
	if err != nil && l.isClosed() {
		return nil, net.ErrClosed
	}
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	f := os.NewFile(uintptr(fd), "a client")
	defer f.Close()
	return net.FileConn(f)
}

// Underway reports whether a client has connected that was not accepted yet, or that was accepted since the last call
// of Accept began.
func (l *Listener) Underway() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := false
	_ = l.raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		waiting = err == nil && info.Unacked > 0 // for a listener: the connections to accept
	})
	return l.busy || waiting
}
