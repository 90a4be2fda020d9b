package designs

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	dialLimit = 5 * time.Second // maximum time for opening a connection
	closing   = time.Second     // maximum time for the closing handshake of a connection
)

// client is a client of one lock, with one connection and one channel. Acquire reconnects if the connection is lost.
// Other operations do not: the hold ended with the old connection.
type client struct {
	url    string
	design Design
	conn   *amqp.Connection
	ch     *amqp.Channel
	held   bool
	lost   *atomic.Bool // set when the connection, the channel or the consumer of the current hold ends
	tag    uint64       // delivery tag of the message by which the client holds the lock
}

func newClient(ctx context.Context, url string, d Design) (*client, error) {
	c := &client{url: url, design: d}
	return c, c.open(ctx)
}

func soon() time.Time { return time.Now().Add(closing) }

// dial opens a connection, within dialLimit.
func dial(ctx context.Context, url string) (*amqp.Connection, error) {
	return amqp.DialConfig(url, amqp.Config{Heartbeat: heartbeat, Dial: func(network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialLimit)
		defer cancel()
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return conn, conn.SetDeadline(time.Now().Add(dialLimit)) // cleared by amqp091-go once it is open
	}})
}

// heartbeat is the interval of heartbeats: the default of amqp091-go.
const heartbeat = 10 * time.Second

// open ensures that a connection and a channel are open. lost becomes true when the connection, the channel or a consumer
// ends.
func (c *client) open(ctx context.Context) (err error) {
	if c.conn == nil || c.conn.IsClosed() {
		c.ch = nil
		if c.conn, err = dial(ctx, c.url); err != nil {
			return err
		}
	}
	if c.ch != nil && !c.ch.IsClosed() {
		return nil
	}
	if c.ch, err = c.conn.Channel(); err != nil {
		return err
	}
	c.lost = new(atomic.Bool)
	go listen(c.lost, c.conn.NotifyClose(make(chan *amqp.Error, 1)), c.ch.NotifyClose(make(chan *amqp.Error, 1)), c.ch.NotifyCancel(make(chan string, 1)))
	return nil
}

// listen sets lost when a connection, a channel or a consumer ends.
func listen(lost *atomic.Bool, conn, ch <-chan *amqp.Error, consumer <-chan string) {
	select {
	case <-conn:
	case <-ch:
	case <-consumer:
	}
	lost.Store(true)
}

// abandon closes the connection, so that the server frees what it holds.
func (c *client) abandon() {
	c.held = false
	if c.conn != nil && !c.conn.IsClosed() {
		_ = c.conn.CloseDeadline(soon())
	}
}

// bounded closes the connection when ctx is done. Calls that wait for the server then return. Calling stop prevents the
// close.
func (c *client) bounded(ctx context.Context) (stop func() bool) {
	conn := c.conn
	return context.AfterFunc(ctx, func() { _ = conn.CloseDeadline(soon()) })
}

// Acquire tries to get the lock. It returns 1 if the lock is now held, or 0.
func (c *client) Acquire(ctx context.Context, lock string) (int, error) {
	if err := c.open(ctx); err != nil {
		return 0, err
	}
	defer c.bounded(ctx)()
	held, err := c.design.hold.claim(c, c.design.queueOf(lock))
	if err != nil {
		c.abandon()
		return 0, err
	}
	if c.held = held && !c.lost.Load(); !c.held {
		return 0, nil
	}
	return 1, nil
}

// Verify reports whether the client still holds the lock. It is false if the client has seen the connection, channel or
// consumer end. If the design has a query, Verify asks the server as well.
func (c *client) Verify(ctx context.Context, lock string, _ int) (bool, error) {
	if !c.held || c.lost.Load() {
		c.abandon()
		return false, nil
	}
	defer c.bounded(ctx)()
	if err := c.design.hold.look(c, c.design.queueOf(lock)); err != nil {
		c.abandon()
		return false, nil
	}
	return true, nil
}

// Release releases the lock. If that fails, it closes the connection, which releases the lock as well.
func (c *client) Release(ctx context.Context, lock string, _ int) error {
	if !c.held {
		return nil
	}
	c.held = false
	defer c.bounded(ctx)()
	if err := c.design.hold.giveBack(c, c.design.queueOf(lock)); err != nil {
		c.abandon()
	}
	return nil
}

// Close closes the connection.
func (c *client) Close() error {
	c.abandon()
	return nil
}

// refused reports whether err says that the server refused a request: it closed the channel with one of the given reply
// codes. If so, refused opens another channel. If not, it returns err.
func (c *client) refused(err error, codes ...int) (bool, error) {
	var closed *amqp.Error
	if !errors.As(err, &closed) || !slices.Contains(codes, closed.Code) {
		return false, err
	}
	return true, c.open(context.Background())
}
