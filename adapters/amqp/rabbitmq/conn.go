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

// Dialer has the options of a connection. The zero value has the defaults.
type Dialer struct {
	// Heartbeat is the interval that is asked for, at least a second; 0 means 10 seconds. A broker
	// takes up to two of them to notice a connection that is gone without a word.
	Heartbeat time.Duration
	// Timeout bounds the wait for each reply, and for the connection itself; 0 means 5 seconds. A
	// connection on which a reply did not come in time is cut: see [amqp.Lost].
	Timeout time.Duration
	// Socket connects to the broker; nil does over the network.
	Socket func(network, address string) (net.Conn, error)
}

const (
	defaultHeartbeat = 10 * time.Second
	defaultTimeout   = 5 * time.Second
)

// Dial opens a connection with the default options. names must know every queue that commands will
// name.
func Dial(ctx context.Context, url string, names *amqp.Names) (*Conn, error) {
	return Dialer{}.Dial(ctx, url, names)
}

// Dial opens a connection. ctx bounds the opening alone.
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

// Conn is one client's connection. It is not safe for concurrent use but for Kill.
type Conn struct {
	dialer   Dialer
	url      string
	names    *amqp.Names
	conn     *amqp091.Connection // nil once it is known to be gone
	closes   chan *amqp091.Error // why it went, if the broker said
	channels map[uint16]*channel // by the number that commands use; amqp091-go allots its own
	sent     uint64              // messages published, to tell them apart
	gaveUp   atomic.Bool         // a reply did not come in time
	killed   atomic.Bool
	socket   atomic.Pointer[net.Conn] // what Kill closes
	inbox    *inbox
}

// open makes the connection, the first time and again.
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

// Kill closes the socket without a goodbye, as a crash does. Another goroutine may call it during a command. The
// broker finds out by itself.
func (c *Conn) Kill() {
	c.killed.Store(true)
	if socket := c.socket.Load(); socket != nil {
		(*socket).Close()
	}
}

// Close closes the connection in good order. It is no error if the connection is gone.
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

// patiently calls something that waits for the broker, and cuts the connection if it waits too long.
// amqp091-go itself waits for ever.
func (c *Conn) patiently(call func() error) error {
	timer := time.AfterFunc(c.dialer.Timeout, func() {
		c.gaveUp.Store(true)
		c.Kill()
	})
	defer timer.Stop()
	return call()
}

// Do sends commands and returns the replies, up to the first that closes the channel or the connection, or that did
// not come. Replies are those of the simulated broker, and comparable by ==.
//
// Consecutive messages on a channel in confirm mode are all written before the first confirm is awaited. Every other reply
// is awaited before the next command is written, because amqp091-go cannot write behind a synchronous method. This
// connection may therefore take more round trips than a batch says.
//
// connection.open on a lost connection opens another one. Two mistakes never reach the broker, since amqp091-go
// cannot make them: opening an open channel, and using a closed one. Do answers them as the broker would, with 504,
// and cuts the connection.
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

// up reports whether the connection is up from our point of view. The broker's reason for closing it may still be
// unread.
func (c *Conn) up() bool { return c.conn != nil && !c.killed.Load() }

// reopen answers connection.open.
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

// goodbye answers connection.close.
func (c *Conn) goodbye() amqp.Reply {
	err := c.patiently(c.conn.Close)
	if err != nil {
		return c.failure(nil, err)
	}
	c.conn = nil
	return amqp.Reply{Kind: amqp.OK}
}
