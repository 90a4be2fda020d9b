package wire

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/lockproof/lockproof/adapters/wire/frame"
)

// Config is what a server is made of. Backend alone must be given.
type Config struct {
	Backend Backend
	Gate    Gate // nil means Through
	// MaxMessage is how many bytes of content a client may send in one message, and have incomplete on
	// all channels of a connection; 0 means RabbitMQ's 128 MiB.
	MaxMessage int
	// MaxConnections is how many connections there may be at once, 0 for 10,000. One more is closed at
	// once.
	MaxConnections int
	// MaxHandshake is how long a client may take for each step before it is logged in; 0 means 10 seconds.
	MaxHandshake time.Duration
	// MaxUnread is how many bytes a client may leave unread before it is cut off; 0 means 256 MiB.
	MaxUnread int
}

// Server takes connections of AMQP 0-9-1 clients on one address. Servers may share a backend and a
// gate: with an address for each client, it is known who connects.
type Server struct {
	config   Config
	gate     Gate
	listener net.Listener
	tasks    sync.WaitGroup

	mu       sync.Mutex
	conns    map[*Conn]struct{} // those of which one end is there
	accepted uint64
	past     Counts // of connections that are gone
	closed   bool
}

// Listen starts a server on an address such as 127.0.0.1:5672. Port 0 picks a free one.
func Listen(address string, config Config) (*Server, error) {
	if config.Backend == nil {
		panic("wire: a server without a backend")
	}
	if config.MaxMessage == 0 {
		config.MaxMessage = 128 << 20
	}
	if config.MaxConnections == 0 {
		config.MaxConnections = 10_000
	}
	if config.MaxHandshake == 0 {
		config.MaxHandshake = 10 * time.Second
	}
	if config.MaxUnread == 0 {
		config.MaxUnread = 256 << 20
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("taking connections: %w; another program may have the port, and port 0 picks a free one", err)
	}
	s := &Server{config: config, gate: config.Gate, listener: listener, conns: make(map[*Conn]struct{})}
	if s.gate == nil {
		s.gate = Through{}
	}
	s.tasks.Go(s.accept)
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL is the server's address as clients want it, with the default user and virtual host.
func (s *Server) URL() string { return "amqp://guest:guest@" + s.Addr().String() + "/%2F" }

// Counts is what went over all connections so far.
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

// Close ends all connections without a goodbye, tells the broker of it, and returns when no goroutine
// is left.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	var conns []*Conn
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
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
		socket, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many files, or a client that was gone before it was there
			time.Sleep(acceptPause)
			continue
		}
		s.take(socket)
	}
}

// take begins a connection.
func (s *Server) take(socket net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= s.config.MaxConnections {
		socket.Close()
		return
	}
	s.accepted++
	c := &Conn{Server: s, Number: s.accepted, socket: socket, out: newOutbox(s.config.MaxUnread)}
	c.in, c.freed.L = frame.NewReader(source{c}, MaxFrame), &c.mu
	if tcp, ok := socket.(syscall.Conn); ok {
		c.raw, _ = tcp.SyscallConn()
	}
	s.conns[c] = struct{}{}
	s.tasks.Go(c.serve)
}

// forget lets go of a connection of which neither end is there.
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
