package measure

import (
	"net"
	"sync/atomic"
)

// Traffic counts the bytes that are sent and received over sockets.
type Traffic struct{ sent, received atomic.Int64 }

// Over wraps a connection so that its bytes are counted.
func (t *Traffic) Over(c net.Conn) net.Conn { return &socket{c, t} }

// Add returns s with the counted bytes added.
func (t *Traffic) Add(s Spent) Spent {
	s.Sent, s.Received = s.Sent+t.sent.Load(), s.Received+t.received.Load()
	return s
}

type socket struct {
	net.Conn
	traffic *Traffic
}

func (s *socket) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.traffic.received.Add(int64(n))
	return n, err
}

func (s *socket) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	s.traffic.sent.Add(int64(n))
	return n, err
}
