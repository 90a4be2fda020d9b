// Package several has mutexes on RabbitMQ whose clients can hold several locks at once. They use amqp091-go. Some
// have a bug each. Most bugs do not show in simple use: they need a release without a hold, a long time without use,
// a second lock, a late reply, or a client that waits.
package several

import (
	"context"
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Design is a way to implement a lock.
type Design interface {
	// claim tries to acquire a lock, on a channel that is used for this lock only. tag is the delivery tag of the
	// message by which it is held, if there is one.
	claim(c *Client, ch *amqp.Channel, name string) (tag uint64, held bool, err error)
	// giveBack releases a lock that was acquired on channel ch.
	giveBack(c *Client, ch *amqp.Channel, name string, tag uint64) error
	// forsake releases what may be left of a lock whose channel is closed.
	forsake(c *Client)
}

// Bug is a mistake in a client. NoBug is a client without a mistake.
type Bug string

// The bugs that a client can have.
const (
	NoBug Bug = ""
	// ReleasesAnyway: a release does not check whether the client holds the lock.
	ReleasesAnyway Bug = "releases-anyway"
	// ReleasesAfterNo: a release ignores that an earlier verify has returned false.
	ReleasesAfterNo Bug = "releases-after-no"
	// OneFlag: the client remembers that it holds a lock, but not which one.
	OneFlag Bug = "one-flag"
	// LastOnly: a release releases the lock that was acquired last, whatever lock is asked for.
	LastOnly Bug = "last-only"
	// Expires: a holder's queue expires if it is not used for some seconds.
	Expires Bug = "expires"
	// Ages: a token message expires if nobody takes it for some seconds.
	Ages Bug = "ages"
	// Impatient: if there is no answer within a second, an acquire returns that the lock is taken.
	Impatient Bug = "impatient"
	// OldTag: all locks are acquired on one channel. If that is closed, the client opens another one, and releases
	// locks on it with delivery tags of the old one.
	OldTag Bug = "old-tag"
	// TakesAlong: all locks are acquired on one channel, and a release returns all messages that were delivered on
	// it.
	TakesAlong Bug = "takes-along"
	// HangsUp: a release closes the connection, which releases all other locks as well.
	HangsUp Bug = "hangs-up"
)

// Client is one client. It is not safe for concurrent use.
type Client struct {
	url    string
	design Design
	bug    Bug
	conn   *amqp.Connection
	holds  map[string]hold
	last   string
	only   *amqp.Channel // the channel for all locks; used only with the bugs OldTag and TakesAlong
}

type hold struct {
	ch  *amqp.Channel
	tag uint64
}

// New returns a client, which connects at its first use.
func New(_ context.Context, url string, d Design, b Bug) (*Client, error) {
	return &Client{url: url, design: d, bug: b, holds: make(map[string]hold)}, nil
}

// Several returns true: a client can hold several locks at once.
func (c *Client) Several() bool { return true }

// connect opens a connection if there is none. Locks that were held on an old connection are lost.
func (c *Client) connect() (err error) {
	if c.conn == nil || c.conn.IsClosed() {
		c.conn, err = amqp.Dial(c.url)
		clear(c.holds)
	}
	return err
}

// close closes a channel on which no lock is held.
func (c *Client) close(ch *amqp.Channel) {
	if ch != c.only && !ch.IsClosed() {
		ch.Close()
	}
}

// Acquire tries to acquire a lock. It returns 1 if the client holds the lock now, and 0 if the lock is taken.
func (c *Client) Acquire(_ context.Context, name string) (int, error) {
	if err := c.connect(); err != nil {
		return 0, err
	}
	if _, held := c.holds[name]; held || c.bug == OneFlag && len(c.holds) > 0 {
		c.holds[name] = hold{}
		return 1, nil
	}
	ch, err := c.channel()
	if err != nil {
		return 0, err
	}
	tag, held, err := c.claim(ch, name)
	switch {
	case err != nil:
		c.conn.Close()
	case held:
		c.holds[name], c.last = hold{ch, tag}, name
		return 1, nil
	default:
		c.close(ch)
	}
	return 0, err
}

// channel returns a channel on which to acquire a lock.
func (c *Client) channel() (ch *amqp.Channel, err error) {
	if c.bug != OldTag && c.bug != TakesAlong {
		return c.conn.Channel()
	}
	if c.only == nil || c.only.IsClosed() {
		c.only, err = c.conn.Channel()
	}
	return c.only, err
}

// deadline is the maximum time for an acquire to wait for an answer. After that, the client closes the connection,
// which releases a lock that is granted later.
const deadline = time.Second

var errLate = errors.New("the broker did not answer in time")

// claim tries to acquire a lock, and waits at most for deadline.
func (c *Client) claim(ch *amqp.Channel, name string) (tag uint64, held bool, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tag, held, err = c.design.claim(c, ch, name)
	}()
	select {
	case <-done:
		return tag, held, err
	case <-time.After(deadline):
	}
	if c.bug == Impatient {
		return 0, false, nil
	}
	return 0, false, errLate
}

// Verify reports whether a lock is still held. It is if the channel on which it was acquired is open, and the broker
// answers on it.
func (c *Client) Verify(_ context.Context, name string, _ int) (bool, error) {
	h, held := c.holds[name]
	if !held {
		return false, nil
	}
	if c.bug == OldTag {
		h.ch = c.only
	}
	if h.ch == nil { // only with the bug OneFlag
		return !c.conn.IsClosed(), nil
	}
	if !h.ch.IsClosed() && h.ch.Qos(0, 0, false) == nil {
		return true, nil
	}
	if c.bug != ReleasesAfterNo {
		delete(c.holds, name)
	}
	c.design.forsake(c)
	return false, nil
}

// Release releases a lock.
func (c *Client) Release(_ context.Context, name string, _ int) error {
	if c.bug == LastOnly {
		name = c.last
	}
	h, held := c.holds[name]
	delete(c.holds, name)
	if held && c.bug == OldTag {
		h.ch = c.only
	}
	switch {
	case held && c.bug == HangsUp:
		return c.Close()
	case held && h.ch != nil && h.ch.IsClosed() && c.bug != ReleasesAfterNo:
		c.design.forsake(c)
		return nil
	case !held && c.bug != ReleasesAnyway, held && h.ch == nil:
		return nil
	case !held || h.ch.IsClosed():
		if err := c.connect(); err != nil {
			return err
		}
		ch, err := c.conn.Channel()
		if err != nil {
			return err
		}
		h = hold{ch: ch}
	}
	if err := c.design.giveBack(c, h.ch, name, h.tag); err != nil {
		c.conn.Close()
		return nil
	}
	c.close(h.ch)
	return nil
}

// Close closes the connection, which releases what the client holds.
func (c *Client) Close() error {
	if c.conn != nil && !c.conn.IsClosed() {
		c.conn.Close()
	}
	return nil
}

// refused reports whether the broker has refused a request with this code.
func refused(err error, code int) bool {
	var closed *amqp.Error
	return errors.As(err, &closed) && closed.Code == code
}
