package redis

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/lockproof/lockproof/adapters/bound"
)

// Limits of the lengths that an answer may announce, since go-redis allocates memory before the data arrives.
const (
	maxText      = 16 << 20 // maximum bytes of a string
	maxElements  = 1 << 20  // maximum number of elements of all lists in one answer
	maxReplyLine = 64 << 10 // maximum bytes of the line before a string or list, or of a short answer
)

// dialer returns a function that connects to a server with options o.
func dialer(o *redis.Options) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := granted.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &lengths{Conn: secured(conn, o.TLSConfig), address: address}, nil
	}
}

func secured(conn net.Conn, c *tls.Config) net.Conn {
	if c == nil {
		return conn
	}
	return tls.Client(conn, c)
}

// lengths is a connection that checks the lengths that answers announce.
type lengths struct {
	net.Conn
	address  string
	mu       sync.Mutex
	line     []byte       // beginning of an incomplete line
	rest     int          // remaining bytes of a string, including its line end
	wrong    error        // the error with which reading has ended
	elements atomic.Int64 // elements announced since the last write
}

// Write sends a request. The next answer then begins.
func (l *lengths) Write(p []byte) (int, error) {
	l.elements.Store(0)
	return l.Conn.Write(p)
}

// Read reads, and returns an error if an answer announces more than the bounds allow.
func (l *lengths) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrong != nil {
		return 0, l.wrong
	}
	n, err := l.Conn.Read(p)
	if l.wrong = l.follow(p[:n]); l.wrong != nil {
		return 0, l.wrong
	}
	return n, err
}

func (l *lengths) follow(p []byte) error {
	for len(p) > 0 {
		if l.rest > 0 {
			n := min(l.rest, len(p))
			l.rest, p = l.rest-n, p[n:]
			continue
		}
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.line, p = append(l.line, p...), nil
		} else {
			l.line, p = append(l.line, p[:end+1]...), p[end+1:]
		}
		if len(l.line) > maxReplyLine {
			return l.errorf("a line of more than %d bytes", maxReplyLine)
		}
		if end < 0 {
			continue
		}
		if err := l.announced(bytes.TrimRight(l.line, "\r\n")); err != nil {
			return err
		}
		l.line = l.line[:0]
	}
	return nil
}

// announced checks a line that may announce a length.
func (l *lengths) announced(line []byte) error {
	if len(line) < 2 {
		return nil
	}
	n, err := strconv.Atoi(string(line[1:]))
	switch line[0] {
	case '$', '=', '!':
		if err != nil || n > maxText {
			return l.errorf("a text of %.30s bytes: expected at most %d", line[1:], maxText)
		}
		if n >= 0 {
			l.rest = n + len("\r\n")
		}
	case '*', '%', '~', '>', '|':
		if err == nil && n > 0 {
			l.elements.Add(int64(min(n, maxElements+1)))
		}
		if err != nil || l.elements.Load() > maxElements {
			return l.errorf("lists of %.30s elements: expected at most %d in one answer", line[1:], maxElements)
		}
	}
	return nil
}

func (l *lengths) errorf(format string, args ...any) error {
	return bound.Exceeded(l.address, "announced "+format, args...)
}
