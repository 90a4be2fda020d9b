// Package acceptor accepts connections at a port of this machine, and ends all of them when it is closed.
package acceptor

import (
	"net"
	"sync"
)

// Acceptor accepts TCP connections at one port. It is safe for concurrent use.
type Acceptor struct {
	listener net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
	over  bool
	work  sync.WaitGroup
}

// Listen opens a port of this machine, which the system chooses.
func Listen() (*Acceptor, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &Acceptor{listener: listener, conns: make(map[net.Conn]bool)}, nil
}

// Serve begins to accept connections. For each connection it calls serve, and closes the connection when serve returns.
func (a *Acceptor) Serve(serve func(net.Conn)) {
	a.work.Go(func() {
		for {
			conn, err := a.listener.Accept()
			if err != nil {
				return
			}
			a.work.Go(func() {
				defer a.Forget(conn)
				if a.Keep(conn) {
					serve(conn)
				}
			})
		}
	})
}

// Addr returns the address at which the acceptor listens.
func (a *Acceptor) Addr() *net.TCPAddr { return a.listener.Addr().(*net.TCPAddr) }

// Go runs f in a goroutine. Close waits until f returns.
func (a *Acceptor) Go(f func()) { a.work.Go(f) }

// Over reports whether Close has been called.
func (a *Acceptor) Over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.over
}

// Keep registers a connection that Serve has not accepted, so that Close closes it as well. It returns false if Close
// has already been called.
func (a *Acceptor) Keep(conn net.Conn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.conns[conn] = true
	}
	return !a.over
}

// Forget closes a connection that was given to Keep. Close no longer has to close it.
func (a *Acceptor) Forget(conn net.Conn) {
	_ = conn.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.conns, conn)
}

// Close closes all connections, and returns when all goroutines have ended.
func (a *Acceptor) Close() error {
	err := a.listener.Close()
	a.mu.Lock()
	a.over = true
	for conn := range a.conns {
		_ = conn.Close()
	}
	a.mu.Unlock()
	a.work.Wait()
	return err
}
