// Package bound limits how long a server may take to answer over a connection, and how many bytes it may send. If a
// server sends nothing, sends very slowly, or never stops sending, reading fails with an error that says which limit
// was exceeded.
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

// Limits are the limits of time and size on one connection to a server. A zero field means that there is no such
// limit.
type Limits struct {
	// Connect is the maximum time to establish the connection.
	Connect time.Duration
	// Answer is the maximum time until an answer is complete. It counts from the last byte that we sent or, before
	// that, from the beginning of the connection. It is for protocols in which a client reads only after it has sent
	// a request.
	Answer time.Duration
	// Most is the maximum number of bytes that the server may send after the last byte that we sent. Greeting is that
	// maximum before we have sent anything.
	Most, Greeting int64
}

// ErrServer is matched by the errors of servers that have exceeded their limits, as [errors.Is] reports.
var ErrServer = errors.New("see that the server of the right kind runs there and is well, or name another")

// Error says which limit a server has exceeded.
type Error struct {
	Address string // address of the server
	Awaited string // what we waited for and for how long, or how much the server has sent
	timeout bool
}

// Error returns the server's address, the exceeded limit and a hint, in one line.
func (e *Error) Error() string { return e.Address + " " + e.Awaited + ": " + ErrServer.Error() }

// Is reports whether target is [ErrServer]. There is no Unwrap method, because some drivers print only the innermost
// error.
func (e *Error) Is(target error) bool { return target == ErrServer }

// Exceeded returns the error for a server that sent, or announced, more than its limits allow. format and its
// arguments say what the server did.
func Exceeded(address, format string, args ...any) error {
	return &Error{Address: address, Awaited: fmt.Sprintf(format, args...)}
}

// Timeout reports whether the exceeded limit was one of time. It is part of [net.Error].
func (e *Error) Timeout() bool { return e.timeout }

// Temporary returns false: another read would continue in the middle of an answer.
func (e *Error) Temporary() bool { return false }

// Dial connects to a server within the limits. Network and address are those of [net.Dialer.DialContext].
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

// keptKey is the context key under which [Telling] stores a [kept].
type keptKey struct{}

// kept records the first error about an exceeded limit.
type kept struct{ err atomic.Pointer[error] }

// keep records err if it is the first, and returns it.
func (k *kept) keep(err error) error {
	if k != nil && err != nil {
		k.err.CompareAndSwap(nil, &err)
	}
	return err
}

// Telling returns a context whose connections record the first limit that is exceeded. It also returns a function
// that replaces a driver's error by the recorded one, because drivers often hide the cause behind an error of their
// own.
func Telling(ctx context.Context) (context.Context, func(error) error) {
	k := new(kept)
	return context.WithValue(ctx, keptKey{}, k), func(err error) error {
		if exceeded := k.err.Load(); err != nil && exceeded != nil && !errors.Is(err, ErrServer) {
			return *exceeded
		}
		return err
	}
}

// Over applies the limits to a connection that is already open. The address is for error messages.
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
	kept    *kept        // where to record an exceeded limit; nil if nowhere
	asked   atomic.Int64 // time of the last byte that we sent, in Unix nanoseconds
	came    atomic.Int64 // number of bytes received since our last byte or, before that, since the start
	spoken  atomic.Bool  // whether we have sent something
	theirs  atomic.Int64 // the read deadline that the user of the connection has set, in Unix nanoseconds; 0 if none
}

// Read reads from the server, and returns an error once a limit is exceeded.
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

// due returns the time by which the answer has to be complete.
func (c *conn) due() time.Time { return time.Unix(0, c.asked.Load()).Add(c.limits.Answer) }

// limit sets the read deadline to the time by which the answer has to be complete, and returns true. It returns false
// if there is no such time, or if an earlier deadline that the user of the connection has set stays.
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
	if theirs := c.theirs.Load(); theirs != 0 && theirs <= due.UnixNano() { // the user has set a deadline meanwhile
		return false, c.Conn.SetReadDeadline(time.Unix(0, theirs))
	}
	return true, nil
}

// Write sends bytes. The limits of time and size start anew.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.asked.Store(time.Now().UnixNano())
	c.came.Store(0)
	c.spoken.Store(true)
	return n, err
}

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error {
	theirs := int64(0)
	if !t.IsZero() {
		theirs = max(1, t.UnixNano())
	}
	c.theirs.Store(theirs)
	return c.Conn.SetReadDeadline(t)
}

// SetLinger calls SetLinger of the wrapped connection if that is a [net.TCPConn]; otherwise it does nothing.
func (c *conn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}
