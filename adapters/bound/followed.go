package bound

import (
	"net"
	"sync"
)

// Followed wraps a connection and passes all bytes that arrive to rules, which checks them against a protocol. Once
// rules returns an error, nothing more is read. So a server cannot make a driver allocate memory by announcing a huge
// message.
func Followed(c net.Conn, rules func(p []byte) error) net.Conn {
	f := &followed{Conn: c, rules: rules}
	if c, ok := c.(*conn); ok {
		f.kept = c.kept
	}
	return f
}

type followed struct {
	net.Conn
	rules func(p []byte) error
	kept  *kept
	mu    sync.Mutex
	wrong error
}

// Read reads bytes and returns them if the rules accept them.
func (f *followed) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wrong != nil {
		return 0, f.wrong
	}
	n, err := f.Conn.Read(p)
	if f.wrong = f.kept.keep(f.rules(p[:n])); f.wrong != nil {
		return 0, f.wrong
	}
	return n, err
}

// SetLinger calls SetLinger of the wrapped connection if that is a [net.TCPConn]; otherwise it does nothing.
func (f *followed) SetLinger(seconds int) error {
	if c, ok := f.Conn.(interface{ SetLinger(seconds int) error }); ok {
		return c.SetLinger(seconds)
	}
	return nil
}
