package plugin

import (
	"net"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/gate/stream"
)

const (
	// answerTime is how long a command may have no answer before it counts as one that waits.
	answerTime = 100 * time.Millisecond
	// quiet is how long a server is left alone until it counts as having said all.
	quiet = 3 * time.Millisecond
	// closeTime is how long a server may take to close a connection whose client is gone.
	closeTime = 200 * time.Millisecond
	// dialLimit is how long it may take to take a connection.
	dialLimit = 10 * time.Second
)

// upstream are the connections to the server. It is safe for concurrent use.
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
	over chan struct{} // closed when the server has ended it, or we have

	mu      sync.Mutex
	written time.Time // when something was written last
}

var _ stream.Upstream = (*upstream)(nil)

func newUpstream(address string) *upstream {
	return &upstream{address: address, conns: make(map[int64]*connection)}
}

// Dial connects a client.
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

// Write notes when.
func (c *connection) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = time.Now()
	return n, err
}

// Read notes the end.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.ended()
	}
	return n, err
}

// ended notes the end.
func (c *connection) ended() { c.once.Do(func() { close(c.over) }) }

// Close closes it.
func (c *connection) Close() error {
	c.ended()
	c.up.mu.Lock()
	delete(c.up.conns, c.id)
	c.up.mu.Unlock()
	return c.Conn.Close()
}

// of is a connection by its number, nil where there is none.
func (u *upstream) of(id int64) *connection {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.conns[id]
}

// Waits reports whether the server has had the time for an answer.
func (u *upstream) Waits(id int64) (bool, error) {
	c := u.of(id)
	if c == nil {
		return false, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.written) > answerTime, nil
}

// Barrier leaves the server alone for a moment.
func (u *upstream) Barrier() error {
	time.Sleep(quiet)
	return nil
}

// Kill tells the server that the client is gone, and waits until it has closed the connection, or has had the time.
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
