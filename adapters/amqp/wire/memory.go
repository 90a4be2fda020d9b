package wire

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// memoryConn is one end of a connection within this process. It behaves like a socket, without the kernel.
type memoryConn struct {
	in, out       *stream
	local, remote net.Addr
}

// memoryPipe creates a connection within this process. c is the client's end, and s the server's.
func memoryPipe(client, server net.Addr) (c, s *memoryConn) {
	to, from := newStream(), newStream()
	return &memoryConn{in: from, out: to, local: client, remote: server}, &memoryConn{in: to, out: from, local: server, remote: client}
}

// memoryAddr is the network address of clients that connect within this process.
type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "in this process" }

// TryRead, Await and Unread implement [socket.Local].

func (m *memoryConn) TryRead(b []byte) (n int, err error, done bool) { return m.in.try(b) }
func (m *memoryConn) Await()                                         { m.in.await() }
func (m *memoryConn) Unread() bool                                   { return m.in.unread() }

func (m *memoryConn) Read(b []byte) (int, error)         { return m.in.read(b) }
func (m *memoryConn) Write(b []byte) (int, error)        { return m.out.write(b) }
func (m *memoryConn) LocalAddr() net.Addr                { return m.local }
func (m *memoryConn) RemoteAddr() net.Addr               { return m.remote }
func (m *memoryConn) SetReadDeadline(t time.Time) error  { return m.in.until(&m.in.readBy, t) }
func (m *memoryConn) SetWriteDeadline(t time.Time) error { return m.out.until(&m.out.writeBy, t) }

func (m *memoryConn) SetDeadline(t time.Time) error {
	_ = m.SetReadDeadline(t)
	return m.SetWriteDeadline(t)
}

// CloseWrite ends the output: the other end reads what was written, and then io.EOF.
func (m *memoryConn) CloseWrite() error {
	m.out.end()
	return nil
}

func (m *memoryConn) Close() error {
	m.in.abandon()
	m.out.end()
	return nil
}

// maxStream is the number of unread bytes at which Write blocks. It is about what a socket buffers.
const maxStream = 1 << 18

// stream is one direction of a connection within a process.
type stream struct {
	mu        sync.Mutex
	changed   sync.Cond
	buf       []byte
	taken     int  // number of bytes at the start of buf that were read
	ended     bool // nothing more will be written
	abandoned bool // nothing more will be read
	readBy    deadline
	writeBy   deadline
}

func newStream() *stream {
	s := new(stream)
	s.changed.L = &s.mu
	return s
}

// deadline is the time at which a read or write gives up; the zero time means never.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) over() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// until sets a read or write deadline; the zero time removes it.
func (s *stream) until(d *deadline, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.at = t
	switch {
	case t.IsZero() && d.timer != nil:
		d.timer.Stop()
	case t.IsZero():
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(t), s.wake)
	default:
		d.timer.Reset(time.Until(t))
	}
	return nil
}

// wake makes blocked readers and writers check their conditions again.
func (s *stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// end is called when the writer closes its end.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.writeBy.stop()
	s.changed.Broadcast()
}

// abandon is called when the reader closes its end.
func (s *stream) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandoned, s.buf, s.taken = true, nil, 0
	s.readBy.stop()
	s.changed.Broadcast()
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// unread reports whether a read would return at once, with data or with the end.
func (s *stream) unread() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.toRead()
}

// toRead is unread for callers that hold mu.
func (s *stream) toRead() bool {
	return len(s.buf) > s.taken || s.ended || s.abandoned || s.readBy.over()
}

// try reads the available data. done is false if there is none.
func (s *stream) try(b []byte) (n int, err error, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tryLocked(b)
}

// tryLocked is try for callers that hold mu.
func (s *stream) tryLocked(b []byte) (n int, err error, done bool) {
	switch {
	case s.abandoned:
		return 0, net.ErrClosed, true
	case s.readBy.over():
		return 0, os.ErrDeadlineExceeded, true
	case len(s.buf) > s.taken:
		full := len(s.buf) >= maxStream
		n = copy(b, s.buf[s.taken:])
		if s.taken += n; s.taken == len(s.buf) {
			s.buf, s.taken = reusable(s.buf)[:0], 0
		}
		if full {
			s.changed.Broadcast()
		}
		return n, nil, true
	case s.ended:
		return 0, io.EOF, true
	}
	return 0, nil, len(b) == 0
}

// await waits until there is something to read.
func (s *stream) await() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.toRead() {
		s.changed.Wait()
	}
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if n, err, done := s.tryLocked(b); done {
			return n, err
		}
		s.changed.Wait()
	}
}

func (s *stream) write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch room := maxStream - len(s.buf); {
		case s.ended:
			return n, net.ErrClosed
		case s.abandoned:
			return n, syscall.EPIPE
		case s.writeBy.over():
			return n, os.ErrDeadlineExceeded
		case n == len(b):
			return n, nil
		case room > 0:
			n += s.append(b[n:min(len(b), n+room)])
		default:
			s.changed.Wait()
		}
	}
}

// offer writes as much of b as there is room for.
func (s *stream) offer(b []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.abandoned {
		return 0
	}
	return s.append(b[:min(len(b), max(0, maxStream-len(s.buf)))])
}

// append adds data for the reader. The caller must hold mu.
func (s *stream) append(b []byte) int {
	s.buf = append(s.buf, b...)
	s.changed.Broadcast()
	return len(b)
}
