package plugin

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/consul"
	"github.com/lockproof/lockproof/adapters/gate/stream"
)

// upstream is the simulated Consul, on a port of this machine. It is safe for concurrent use.
type upstream struct {
	store    *consul.Server
	server   *http.Server
	listener net.Listener

	mu      sync.Mutex
	changed sync.Cond
	conns   map[string]*connection // connections, by the client's source address
}

// connection is the state of one connection at the server.
type connection struct {
	net.Conn
	at http.ConnState
}

var _ stream.Upstream = (*upstream)(nil)

// serve starts an HTTP server that answers requests from the store.
func serve(store *consul.Server) (*upstream, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &upstream{store: store, listener: listener, conns: make(map[string]*connection)}
	u.changed.L = &u.mu
	u.server = &http.Server{Handler: store, ConnState: u.becomes}
	go func() { _ = u.server.Serve(listener) }() // Serve returns an error only when the server has been closed
	return u, nil
}

// becomes records the HTTP state of a connection, such as idle.
func (u *upstream) becomes(c net.Conn, at http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	from := c.RemoteAddr().String()
	if at == http.StateClosed || at == http.StateHijacked {
		delete(u.conns, from)
	} else {
		u.conns[from] = &connection{c, at}
	}
	u.changed.Broadcast()
}

// answerLimit is the maximum time for the server to answer. It usually answers at once.
const answerLimit = 20 * time.Second

// Dial opens a connection to the server. The connection's number is its port.
func (u *upstream) Dial() (net.Conn, int64, error) {
	conn, err := net.DialTimeout("tcp", u.listener.Addr().String(), answerLimit)
	if err != nil {
		return nil, 0, err
	}
	port := conn.LocalAddr().(*net.TCPAddr).Port
	if !u.await(func() bool { return u.conns[address(int64(port))] != nil }) {
		return nil, 0, fmt.Errorf("our Consul does not take a connection from port %d", port)
	}
	return conn, int64(port), nil
}

// address returns the source address of the connection with the given number, its port.
func address(port int64) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// Waits reports whether a blocking query of the connection waits for a change.
func (u *upstream) Waits(id int64) (bool, error) { return u.store.Waits(address(id)), nil }

// Barrier returns once every request is answered, except for blocking queries that wait for a change.
func (u *upstream) Barrier() error {
	u.await(func() bool {
		for from, c := range u.conns {
			if c.at == http.StateActive && !u.store.Waits(from) {
				return false
			}
		}
		return true
	})
	return nil
}

// lookAgain is the time between two checks of the condition that await waits for.
const lookAgain = 200 * time.Microsecond

// await waits until holds returns true. It returns false if that takes longer than answerLimit.
func (u *upstream) await(holds func() bool) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for end := time.Now().Add(answerLimit); !holds(); {
		if time.Now().After(end) {
			return false
		}
		again := time.AfterFunc(lookAgain, func() {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.changed.Broadcast()
		})
		u.changed.Wait()
		again.Stop()
	}
	return true
}

// Kill ends a connection. When it returns, the server is handling no request of that connection.
func (u *upstream) Kill(id int64) error {
	from := address(id)
	u.mu.Lock()
	c := u.conns[from]
	u.mu.Unlock()
	if c == nil {
		return nil
	}
	_ = c.Close()
	u.await(func() bool { return u.conns[from] == nil })
	return nil
}

// close ends the server and its connections.
func (u *upstream) close() error { return u.server.Close() }
