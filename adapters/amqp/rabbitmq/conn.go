package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/adapters/bound"
	"github.com/lockproof/lockproof/model/amqp"
)

// Dialer has the options of connections. The zero value means the default for each.
type Dialer struct {
	// Heartbeat is the interval that the client requests, at least a second; 0 means 10 seconds. A broker needs up to
	// two intervals to notice a connection that has disappeared.
	Heartbeat time.Duration
	// Timeout is the maximum time for each reply, and for opening the connection; 0 means 5 seconds. After a timeout
	// the connection is cut: see [amqp.Lost].
	Timeout time.Duration
	// Socket opens the socket to the broker; nil means over the network.
	Socket func(network, address string) (net.Conn, error)
}

const (
	defaultHeartbeat = 10 * time.Second
	defaultTimeout   = 5 * time.Second
)

// Dial opens a connection with default options. names must contain every queue that commands will use.
func Dial(ctx context.Context, url string, names *amqp.Names) (*Conn, error) {
	return Dialer{}.Dial(ctx, url, names)
}

// Dial opens a connection. ctx bounds the opening only.
func (d Dialer) Dial(ctx context.Context, url string, names *amqp.Names) (*Conn, error) {
	if d.Heartbeat == 0 {
		d.Heartbeat = defaultHeartbeat
	}
	if d.Timeout == 0 {
		d.Timeout = defaultTimeout
	}
	url, err := checkURL(url)
	if err != nil {
		return nil, err
	}
	c := &Conn{dialer: d, url: url, names: names}
	if err := c.open(ctx); err != nil {
		return nil, fmt.Errorf("connecting to %s: %w; is a RabbitMQ running there?", redact(url), err)
	}
	return c, nil
}

// Conn is one client's connection to a broker. Only Kill may be called concurrently with other methods.
type Conn struct {
	dialer   Dialer
	url      string
	names    *amqp.Names
	conn     *amqp091.Connection // nil once the connection is known to have ended
	closes   chan *amqp091.Error // receives the broker's reason for closing the connection, if any
	channels map[uint16]*channel // by the number that commands use; amqp091-go assigns its own numbers
	sent     uint64              // number of published messages so far
	gaveUp   atomic.Bool         // no reply arrived within Timeout
	killed   atomic.Bool
	socket   atomic.Pointer[net.Conn] // the socket to the broker, which Kill closes
	inbox    *inbox
}

// open opens the connection, for the first time or after a loss.
func (c *Conn) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.dialer.Timeout)
	defer cancel()
	ctx, told := telling(ctx)
	conn, err := amqp091.DialConfig(c.url, amqp091.Config{
		Heartbeat: c.dialer.Heartbeat, FrameSize: frameSize,
		Dial: func(network, addr string) (net.Conn, error) {
			connect := c.dialer.Socket
			if connect == nil {
				connect = dialer(ctx)
			}
			socket, err := connect(network, addr)
			if err == nil {
				c.socket.Store(&socket)
			}
			return socket, err
		},
	})
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		return fmt.Errorf("it did not take us within %v: %w", c.dialer.Timeout, bound.ErrServer)
	}
	if err != nil {
		return told(err)
	}
	c.conn, c.closes = conn, conn.NotifyClose(make(chan *amqp091.Error, 1))
	c.channels, c.inbox = make(map[uint16]*channel), newInbox(c.Kill)
	c.gaveUp.Store(false)
	c.killed.Store(false)
	return nil
}

// Kill closes the socket without connection.close, as a crash does. It may be called while another goroutine sends a
// command. The broker is not told, and notices by itself.
func (c *Conn) Kill() {
	c.killed.Store(true)
	if socket := c.socket.Load(); socket != nil {
		(*socket).Close()
	}
}

// Close closes the connection with connection.close. It is no error if the connection has already ended.
func (c *Conn) Close() error {
	if !c.up() {
		c.conn = nil
		return nil
	}
	err := c.patiently(c.conn.Close)
	c.conn = nil
	if err != nil && !errors.Is(err, amqp091.ErrClosed) {
		return fmt.Errorf("closing the connection to %s: %w", redact(c.url), err)
	}
	return nil
}

// patiently calls a function that waits for the broker. After Timeout it cuts the connection, because amqp091-go has no
// timeout for replies.
func (c *Conn) patiently(call func() error) error {
	timer := time.AfterFunc(c.dialer.Timeout, func() {
		c.gaveUp.Store(true)
		c.Kill()
	})
	defer timer.Stop()
	return call()
}

// Do sends commands and returns their replies. It stops after a reply that closes the channel or the connection, or
// that did not arrive. Replies have the same form as the simulated broker's, and can be compared by ==.
//
// Consecutive messages on a channel in confirm mode are all written before the first confirm is awaited. Every other
// reply is awaited before the next command is written, because amqp091-go cannot write behind a synchronous method. A
// batch may therefore take more round trips than necessary.
//
// connection.open on a lost connection opens another one. Two mistakes never reach the broker, as amqp091-go cannot
// make them: opening an open channel, and using a closed one. Do answers them as the broker would, with 504, and cuts
// the connection.
func (c *Conn) Do(batch []amqp.Command) []amqp.Reply {
	replies := make([]amqp.Reply, 0, len(batch))
	for len(replies) < len(batch) {
		rest := batch[len(replies):]
		if n := c.confirmable(rest); n > 0 {
			replies = append(replies, c.publishAll(rest[:n])...)
		} else {
			replies = append(replies, c.do(rest[0]))
		}
		if last := replies[len(replies)-1]; last.Closed() || last.Kind == amqp.Lost {
			break
		}
	}
	return replies
}

// do sends one command and waits for its reply, if it has one.
func (c *Conn) do(cmd amqp.Command) amqp.Reply {
	if cmd.Method == amqp.ConnectionOpen {
		return c.reopen()
	}
	if !c.up() {
		c.conn = nil
		return amqp.Reply{Kind: amqp.ConnectionClosed}
	}
	ch := c.channels[cmd.Channel]
	switch {
	case cmd.Method == amqp.ConnectionClose:
		return c.goodbye()
	case cmd.Method == amqp.ChannelOpen && (ch == nil || ch.IsClosed()):
		return c.openChannel(cmd.Channel)
	case cmd.Method == amqp.ChannelOpen, ch == nil:
		c.Kill()
		c.conn = nil
		return amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.ChannelError}
	}
	return c.doOn(ch, cmd)
}

// up reports whether the connection is not known to have ended. The broker may have closed it already.
func (c *Conn) up() bool { return c.conn != nil && !c.killed.Load() }

// reopen carries out connection.open, which replaces a lost connection.
func (c *Conn) reopen() amqp.Reply {
	if c.up() && !c.conn.IsClosed() {
		return amqp.Reply{Kind: amqp.OK}
	}
	if err := c.open(context.Background()); err != nil {
		c.conn = nil
		return amqp.Reply{Kind: amqp.ConnectionClosed}
	}
	return amqp.Reply{Kind: amqp.OK}
}

// goodbye carries out connection.close.
func (c *Conn) goodbye() amqp.Reply {
	err := c.patiently(c.conn.Close)
	if err != nil {
		return c.failure(nil, err)
	}
	c.conn = nil
	return amqp.Reply{Kind: amqp.OK}
}
