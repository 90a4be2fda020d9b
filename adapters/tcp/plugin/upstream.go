package plugin

import (
	"net"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/stream"
)

const (
	// answerTime is how long a command may be without an answer before it counts as one that the server keeps
	// waiting.
	answerTime = 100 * time.Millisecond
	// quiet is how long a server must be silent before it counts as having sent everything.
	quiet = 3 * time.Millisecond
	// closeTime is the maximum time to wait for a server to close a connection whose client is gone.
	closeTime = 200 * time.Millisecond
	// dialLimit is the maximum time for a server to accept a connection.
	dialLimit = 10 * time.Second
)

// upstream holds the connections to the server. It is safe for concurrent use.
type upstream struct {
	address string

	mu    sync.Mutex
	last  int64
	conns map[int64]*connection
}

// connection is one connection to the server.
type connection struct {
	net.Conn
	up   *upstream
	id   int64
	once sync.Once
	over chan struct{} // closed when the client or the server has ended the connection

	mu      sync.Mutex
	written time.Time // time of the last write
}

var _ stream.Upstream = (*upstream)(nil)

func newUpstream(address string) *upstream {
	return &upstream{address: address, conns: make(map[int64]*connection)}
}

// Dial opens a connection to the server.
func (u *upstream) Dial() (net.Conn, int64, error) {
	conn, err := net.DialTimeout("tcp", u.address, dialLimit)
	if err != nil {
		return nil, 0, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last++
	c := &connection{Conn: conn, up: u, id: u.last, over: make(chan struct{})}
	u.conns[c.id] = c
	return c, c.id, nil
}

// Write writes to the server, and records the time.
func (c *connection) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = time.Now()
	return n, err
}

// Read reads from the server, and records the end of the connection.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.ended()
	}
	return n, err
}

// ended records that the connection has ended.
func (c *connection) ended() { c.once.Do(func() { close(c.over) }) }

// Close closes the connection to the server.
func (c *connection) Close() error {
	c.ended()
	c.up.mu.Lock()
	delete(c.up.conns, c.id)
	c.up.mu.Unlock()
	return c.Conn.Close()
}

// of returns the connection with the given number; nil if there is none.
func (u *upstream) of(id int64) *connection {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.conns[id]
}

// Waits reports whether the connection's last command has had no answer for answerTime.
func (u *upstream) Waits(id int64) (bool, error) {
	c := u.of(id)
	if c == nil {
		return false, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.written) > answerTime, nil
}

// Barrier waits until the server has been silent for a moment on all connections.
func (u *upstream) Barrier() error {
	time.Sleep(quiet)
	return nil
}

// Kill closes the client's side of a connection, and waits until the server has closed its side, at most for
// closeTime.
func (u *upstream) Kill(id int64) error {
	c := u.of(id)
	if c == nil {
		return nil
	}
	err := c.Conn.(*net.TCPConn).CloseWrite()
	if err == nil {
		select {
		case <-c.over:
		case <-time.After(closeTime):
		}
	}
	time.Sleep(quiet)
	return err
}
