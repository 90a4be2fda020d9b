package wire

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/adapters/gate/socket"
)

// Config configures a server. Backend is required.
type Config struct {
	Backend Backend
	Gate    Gate // nil means Through, which passes everything at once
	// Bounds of clients' resources. A client that exceeds one loses its connection, with an [ErrBound] that names the
	// bound. 0 means the default.
	//
	// MaxMessage limits the content of one message, in bytes. It also limits the sum of a connection's incomplete
	// messages ([DefaultMaxMessage]).
	MaxMessage int
	// MaxHeld limits the bytes of messages of all clients that the server holds: incomplete ones, those at the gate,
	// and those not yet written ([DefaultMaxHeld]).
	MaxHeld int
	// MaxConnections is the maximum number of simultaneous connections ([DefaultMaxConnections]). Further connections
	// are refused with an error. Beyond twice the number they are closed at once.
	MaxConnections int
	// MaxHandshake is the maximum time from the start of a connection to the client's tune-ok ([DefaultMaxHandshake]).
	MaxHandshake time.Duration
	// MaxUnread is the maximum number of bytes that a client may leave unread before it is cut off
	// ([DefaultMaxUnread]).
	MaxUnread int
}

// Server accepts connections of AMQP 0-9-1 clients on one address. Several servers may share a backend and a gate. If
// each client has its own server, the gate knows which client connects.
type Server struct {
	config   Config
	gate     Gate
	listener net.Listener
	tasks    sync.WaitGroup
	budget   budget

	mu       sync.Mutex
	conns    map[*Conn]struct{} // connections, until the client is gone and the broker knows that
	accepted uint64
	past     Counts // sum for connections that are no longer in conns
	closed   bool
}

// Listen starts a server on an address such as 127.0.0.1:5672. Port 0 chooses a free one.
func Listen(address string, config Config) (*Server, error) {
	if config.Backend == nil {
		panic("wire: a server without a backend")
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("taking connections: %w; another program may have the port, and port 0 picks a free one", err)
	}
	config = config.withDefaults()
	s := &Server{config: config, gate: config.Gate, listener: listener, conns: make(map[*Conn]struct{})}
	s.budget.bound = config.MaxHeld
	listening.Store(listener.Addr().String(), s)
	s.tasks.Go(s.accept)
	return s, nil
}

// Addr is the server's address.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL is the server's address as a URL for clients, with the default user and virtual host.
func (s *Server) URL() string { return "amqp://guest:guest@" + s.Addr().String() + "/%2F" }

// Counts is the traffic of all connections so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.past
	for c := range s.conns {
		counts := c.Counts()
		sum.Add(&counts)
	}
	return sum
}

// Present is the number of connections, including those that only one of client and broker has ended.
func (s *Server) Present() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Close ends all connections at once and tells the broker. It returns when all goroutines have ended.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	var conns []*Conn
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	listening.CompareAndDelete(s.Addr().String(), s)
	err := s.listener.Close()
	for _, c := range conns {
		c.Cut()
		c.Release()
	}
	s.tasks.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// acceptPause is the pause after a connection could not be accepted.
const acceptPause = 10 * time.Millisecond

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // for example too many open files, or a client that has disconnected already
			time.Sleep(acceptPause)
			continue
		}
		s.take(conn)
	}
}

// take starts to serve an accepted connection.
func (s *Server) take(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= 2*s.config.MaxConnections {
		conn.Close()
		return
	}
	s.accepted++
	c := &Conn{Server: s, Number: s.accepted, socket: conn, out: newOutbox(s), surplus: len(s.conns) >= s.config.MaxConnections}
	c.in, c.freed.L = frame.NewReader(source{c}, MaxFrame), &c.mu
	c.reader = socket.NewReader(conn)
	if m, ok := conn.(*memoryConn); ok {
		c.out.offer = m.out.offer
	} else {
		c.out.offer = c.reader.Offering()
	}
	s.conns[c] = struct{}{}
	s.tasks.Go(c.serve)
}

// forget removes a connection if its client is gone and the broker has been told of its end. Otherwise it does nothing.
func (s *Server) forget(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := s.conns[c]; ok && c.gone && c.released {
		delete(s.conns, c)
		s.past.Add(&c.counts)
	}
}
