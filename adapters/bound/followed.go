package bound

import (
	"net"
	"sync"
)

// Followed is a connection whose bytes a protocol's rules follow as they come. Once they object, nothing more is read: drivers
// make room for what a server announces before it is there.
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

// Read reads what the rules take.
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

// SetLinger is that of [net.TCPConn], where the connection is one.
func (f *followed) SetLinger(seconds int) error {
	if c, ok := f.Conn.(interface{ SetLinger(seconds int) error }); ok {
		return c.SetLinger(seconds)
	}
	return nil
}
