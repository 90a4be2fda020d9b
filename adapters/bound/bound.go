// Package bound bounds what a server may do to us over a connection: how long it may take to answer, and how much it may
// say. A server that is silent, that dribbles, or that never ends is cut, and the error says which it was.
package bound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/lockproof/lockproof/histories/infile"
)

// Limits are what a server is granted. Zero values bound nothing.
type Limits struct {
	// Connect is how long connecting may take.
	Connect time.Duration
	// Answer is how long it may go on with an answer, from the last byte that we sent, or from the beginning of the
	// connection. It is for protocols in which nobody reads but who has asked.
	Answer time.Duration
	// Most is how many bytes may come behind the last byte that we sent, and Greeting how many before the first.
	Most, Greeting int64
}

// ErrServer is, somewhere in it, the error of a server that has exceeded its limits.
var ErrServer = errors.New("see that the server of the right kind runs there and is well, or name another")

// Error says which limit a server has exceeded.
type Error struct {
	Address string // of the server
	Awaited string // what of it was awaited, and for how long; or how much it has sent
	timeout bool
}

// Error is one line.
func (e *Error) Error() string { return e.Address + " " + e.Awaited + ": " + ErrServer.Error() }

// Is reports whether it is [ErrServer]. It does not unwrap to it: some drivers show the innermost error alone.
func (e *Error) Is(target error) bool { return target == ErrServer }

// Exceeded is the error of a server that did, or announced, more than it may.
func Exceeded(address, format string, args ...any) error {
	return &Error{Address: address, Awaited: fmt.Sprintf(format, args...)}
}

// Timeout reports whether time is up, as of a [net.Error].
func (e *Error) Timeout() bool { return e.timeout }

// Temporary is false, as trying again reads on in the middle of an answer.
func (e *Error) Temporary() bool { return false }

// Dial connects to a server over TCP.
func (l Limits) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l.Connect > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.Connect, &Error{address, fmt.Sprintf("took no connection within %v", l.Connect), true})
		defer cancel()
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		if late, ok := context.Cause(ctx).(*Error); ok {
			err = late
		}
		return nil, err
	}
	c := l.over(conn, address)
	c.kept, _ = ctx.Value(keptKey{}).(*kept)
	return c, nil
}

// keptKey is the key of a context's [kept].
type keptKey struct{}

// kept is the first limit that a connection has exceeded.
type kept struct{ err atomic.Pointer[error] }

// keep keeps an error, and returns it.
func (k *kept) keep(err error) error {
	if k != nil && err != nil {
		k.err.CompareAndSwap(nil, &err)
	}
	return err
}

// Telling returns a context whose connections report the limit that one exceeds. It also returns a function that puts this
// report in the place of the error that a driver returned, since drivers have words of their own for it.
func Telling(ctx context.Context) (context.Context, func(error) error) {
	k := new(kept)
	return context.WithValue(ctx, keptKey{}, k), func(err error) error {
		if exceeded := k.err.Load(); err != nil && exceeded != nil && !errors.Is(err, ErrServer) {
			return *exceeded
		}
		return err
	}
}

// Over is a connection to a server at an address, bounded.
func (l Limits) Over(c net.Conn, address string) net.Conn { return l.over(c, address) }

func (l Limits) over(c net.Conn, address string) *conn {
	b := &conn{Conn: c, limits: l, address: address}
	b.asked.Store(time.Now().UnixNano())
	return b
}

type conn struct {
	net.Conn
	limits  Limits
	address string
	kept    *kept        // nil is none
	asked   atomic.Int64 // when we have sent a byte last, in nanoseconds since 1970
	came    atomic.Int64 // bytes since then
	spoken  atomic.Bool  // we have sent something
	theirs  atomic.Int64 // the deadline for reading of who uses the connection, in nanoseconds since 1970; 0 is none
}

// Read reads what a server may say.
func (c *conn) Read(p []byte) (int, error) {
	most := c.limits.Most
	if !c.spoken.Load() && c.limits.Greeting > 0 {
		most = c.limits.Greeting
	}
	if most > 0 && c.came.Load() >= most {
		return 0, c.kept.keep(Exceeded(c.address, "sent more than %s without being asked again", infile.Size(most)))
	}
	ours, err := c.limit()
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	c.came.Add(int64(n))
	var late net.Error
	if ours && errors.As(err, &late) && late.Timeout() && !time.Now().Before(c.due()) {
		said := "sent nothing"
		if c.came.Load() > 0 {
			said = fmt.Sprintf("sent %d bytes, and no end of an answer,", c.came.Load())
		}
		err = c.kept.keep(&Error{c.address, fmt.Sprintf("%s within %v", said, c.limits.Answer), true})
	}
	return n, err
}

// due is when an answer has to be complete.
func (c *conn) due() time.Time { return time.Unix(0, c.asked.Load()).Add(c.limits.Answer) }

// limit sets the deadline of a read to the time by which the answer has to be complete, but for an earlier one of who uses
// the connection.
func (c *conn) limit() (ours bool, err error) {
	if c.limits.Answer == 0 {
		return false, nil
	}
	due := c.due()
	if theirs := c.theirs.Load(); theirs != 0 && theirs <= due.UnixNano() {
		return false, nil
	}
	if err := c.Conn.SetReadDeadline(due); err != nil {
		return true, err
	}
	if theirs := c.theirs.Load(); theirs != 0 && theirs <= due.UnixNano() { // they have set it meanwhile
		return false, c.Conn.SetReadDeadline(time.Unix(0, theirs))
	}
	return true, nil
}

// Write sends, and the next answer begins.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.asked.Store(time.Now().UnixNano())
	c.came.Store(0)
	c.spoken.Store(true)
	return n, err
}

// SetDeadline is that of [net.Conn].
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline is that of [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error {
	theirs := int64(0)
	if !t.IsZero() {
		theirs = max(1, t.UnixNano())
	}
	c.theirs.Store(theirs)
	return c.Conn.SetReadDeadline(t)
}

// SetLinger is that of [net.TCPConn], where the connection is one.
func (c *conn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}
