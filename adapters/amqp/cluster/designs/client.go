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
	dialLimit = 5 * time.Second // for a connection to be opened
	closing   = time.Second     // for a connection to be closed in good order
)

// client is one client of one lock: a connection with a channel. It connects anew when it acquires, never while it holds: a
// lock that was held went with the old connection.
type client struct {
	url    string
	design Design
	conn   *amqp.Connection
	ch     *amqp.Channel
	held   bool
	lost   *atomic.Bool // the connection, the channel or the consumer has ended, of the hold at hand
	tag    uint64       // of the message that it holds
}

func newClient(ctx context.Context, url string, d Design) (*client, error) {
	c := &client{url: url, design: d}
	return c, c.open(ctx)
}

func soon() time.Time { return time.Now().Add(closing) }

// dial opens a connection, for as long as that may take.
func dial(ctx context.Context, url string) (*amqp.Connection, error) {
	return amqp.DialConfig(url, amqp.Config{Heartbeat: heartbeat, Dial: func(network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialLimit)
		defer cancel()
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return conn, conn.SetDeadline(time.Now().Add(dialLimit)) // amqp091-go clears it when the connection is open
	}})
}

// heartbeat is the usual one of amqp091-go.
const heartbeat = 10 * time.Second

// open sees that there are a connection and a channel, which tell of their ends.
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

// listen notes the end of a connection, of a channel or of a consumer.
func listen(lost *atomic.Bool, conn, ch <-chan *amqp.Error, consumer <-chan string) {
	select {
	case <-conn:
	case <-ch:
	case <-consumer:
	}
	lost.Store(true)
}

// abandon gives the connection up: the server frees what it holds.
func (c *client) abandon() {
	c.held = false
	if c.conn != nil && !c.conn.IsClosed() {
		_ = c.conn.CloseDeadline(soon())
	}
}

// bounded has the connection closed when ctx is done, so that what waits for the server returns.
func (c *client) bounded(ctx context.Context) (stop func() bool) {
	conn := c.conn
	return context.AfterFunc(ctx, func() { _ = conn.CloseDeadline(soon()) })
}

// Acquire tries to get the lock: 1 if it is held now, or 0.
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

// Verify reports whether the lock is still held: by what the client was told, and where the design can ask, by asking.
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

// Release gives the lock back. If that fails, the connection is given up, which gives it back as well.
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

// refused reports whether the server said no by closing the channel with one of these codes. The channel is opened again.
func (c *client) refused(err error, codes ...int) (bool, error) {
	var closed *amqp.Error
	if !errors.As(err, &closed) || !slices.Contains(codes, closed.Code) {
		return false, err
	}
	return true, c.open(context.Background())
}
