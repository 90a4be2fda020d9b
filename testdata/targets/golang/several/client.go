// Package several has mutexes on RabbitMQ whose clients hold any number of locks at once, with amqp091-go, right ones and
// some with a bug each. Most of the bugs show in no plain use. They take a release without a hold, a long time without use,
// a second lock, a reply that comes late, or a client that waits.
package several

import (
	"context"
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Design is how a lock is held.
type Design interface {
	// claim tries to get a lock, by a channel that is there for it alone. Its results say what it has.
	claim(c *Client, ch *amqp.Channel, name string) (tag uint64, held bool, err error)
	// giveBack gives a lock back that was claimed by that channel.
	giveBack(c *Client, ch *amqp.Channel, name string, tag uint64) error
	// forsake gives up whatever may be left of a lock whose channel is gone.
	forsake(c *Client)
}

// Bug is a mistake. NoBug makes none.
type Bug string

// The bugs.
const (
	NoBug Bug = ""
	// ReleasesAnyway does not look whether it holds what it gives back.
	ReleasesAnyway Bug = "releases-anyway"
	// ReleasesAfterNo forgets what a verify has told it.
	ReleasesAfterNo Bug = "releases-after-no"
	// OneFlag remembers that something is held, and not what.
	OneFlag Bug = "one-flag"
	// LastOnly gives back what was acquired last, whatever is asked for.
	LastOnly Bug = "last-only"
	// Expires has a holder's queue deleted that is not used for a minute.
	Expires Bug = "expires"
	// Ages has tokens that nobody takes for a minute deleted.
	Ages Bug = "ages"
	// Impatient waits for a second for an answer, and takes none for a no.
	Impatient Bug = "impatient"
	// OldTag claims by one channel whatever it claims, opens it again when it is closed, and gives back by it what it has had
	// by the one before.
	OldTag Bug = "old-tag"
	// TakesAlong claims by one channel whatever it claims, and gives all back that came by it before.
	TakesAlong Bug = "takes-along"
	// HangsUp gives a lock back by closing the connection, and with it whatever else it holds.
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
	only   *amqp.Channel // by which all is claimed, of the bugs OldTag and TakesAlong
}

type hold struct {
	ch  *amqp.Channel
	tag uint64
}

// New makes a client, which connects when it is first used.
func New(_ context.Context, url string, d Design, b Bug) (*Client, error) {
	return &Client{url: url, design: d, bug: b, holds: make(map[string]hold)}, nil
}

// Several says that a client may hold several locks at once.
func (c *Client) Several() bool { return true }

// connect connects unless connected. The locks that were held went with the old connection.
func (c *Client) connect() (err error) {
	if c.conn == nil || c.conn.IsClosed() {
		c.conn, err = amqp.Dial(c.url)
		clear(c.holds)
	}
	return err
}

// close closes a channel that nothing is held by.
func (c *Client) close(ch *amqp.Channel) {
	if ch != c.only && !ch.IsClosed() {
		ch.Close()
	}
}

// Acquire tries to get a lock: 1 if it is held now, or 0.
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

// channel opens a channel to claim a lock by.
func (c *Client) channel() (ch *amqp.Channel, err error) {
	if c.bug != OldTag && c.bug != TakesAlong {
		return c.conn.Channel()
	}
	if c.only == nil || c.only.IsClosed() {
		c.only, err = c.conn.Channel()
	}
	return c.only, err
}

// deadline is how long a claim waits for an answer: what comes later is given back with the connection.
const deadline = time.Second

var errLate = errors.New("the broker did not answer in time")

// claim claims a lock, and waits no longer than it may.
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

// Verify reports whether a lock is still held: as long as the channel is open by which it was claimed, and the broker
// answers on it.
func (c *Client) Verify(_ context.Context, name string, _ int) (bool, error) {
	h, held := c.holds[name]
	if !held {
		return false, nil
	}
	if c.bug == OldTag {
		h.ch = c.only
	}
	if h.ch == nil { // of the bug OneFlag
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

// Release gives a lock back.
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

// Close closes the connection, and with it releases what is held.
func (c *Client) Close() error {
	if c.conn != nil && !c.conn.IsClosed() {
		c.conn.Close()
	}
	return nil
}

// refused reports whether the broker said no with this code.
func refused(err error, code int) bool {
	var closed *amqp.Error
	return errors.As(err, &closed) && closed.Code == code
}
