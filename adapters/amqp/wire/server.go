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
	Gate    Gate // nil is Through
	// Bounds of clients' resources. Exceeding one ends a connection with an [ErrBound] that names the bound. 0 is the
	// default.
	//
	// MaxMessage is the maximum size of a message's content in bytes, and of all incomplete messages of a connection
	// ([DefaultMaxMessage]).
	MaxMessage int
	// MaxHeld is the maximum number of bytes on their way from and to all clients: incomplete, at the gate, or not yet
	// written ([DefaultMaxHeld]).
	MaxHeld int
	// MaxConnections is the maximum number of simultaneous connections ([DefaultMaxConnections]). Connections beyond it are
	// refused, and if there are twice as many, closed at once.
	MaxConnections int
	// MaxHandshake is the maximum time until a client's connection is tuned ([DefaultMaxHandshake]).
	MaxHandshake time.Duration
	// MaxUnread is the number of unread bytes at which a client is cut off ([DefaultMaxUnread]).
	MaxUnread int
}

// Server accepts connections of AMQP 0-9-1 clients on one address. Servers may share a backend and a gate: with an address
// for each client, it is known which client connects.
type Server struct {
	config   Config
	gate     Gate
	listener net.Listener
	tasks    sync.WaitGroup
	budget   budget

	mu       sync.Mutex
	conns    map[*Conn]struct{} // connections of which at least one end is open
	accepted uint64
	past     Counts // of connections that are gone
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

// Counts counts what went over all connections so far.
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

// Present is the number of connections whose end the client or the broker has not seen.
func (s *Server) Present() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Close ends all connections abruptly, lets the broker see that, and returns when no goroutine is left.
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

// acceptPause is how long to wait when connections can't be accepted.
const acceptPause = 10 * time.Millisecond

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, or a client that disconnected too early
			time.Sleep(acceptPause)
			continue
		}
		s.take(conn)
	}
}

// take begins a connection.
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

// forget removes a connection whose ends are both closed.
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
