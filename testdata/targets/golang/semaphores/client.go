// Package semaphores has semaphores on RabbitMQ with other designs than the amqp-locks guidelines describe. They use
// amqp091-go, and some have a bug each.
package semaphores

import (
	"context"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"
)

// ErrBusy is the error of a call that had no effect, because other clients were in the way.
var ErrBusy = errors.New("others are in the way")

// Design is a way to implement a semaphore.
type Design interface {
	// claim tries to acquire a slot. It returns the slot's number, or 0.
	claim(*Client, string) (int, error)
	// look sends the broker a request that succeeds only if the slot is still held.
	look(*Client, string, int) error
	// giveBack releases a slot.
	giveBack(*Client, string, int) error
}

// Created is the design of a semaphore that is created with a number of slots.
type Created interface {
	Design
	create(*Client, string, int) error
	destroy(*Client, string) error
	count(*Client, string) (int, error)
}

// Client is one client: a connection, a channel for the slot that it holds, and a new channel for each request whose
// refusal closes the channel. It holds at most one slot, and is not safe for concurrent use. After an error other
// than a refusal, it closes the connection, which releases the slot.
type Client struct {
	url    string
	design Design
	conn   *amqp.Connection
	ch     *amqp.Channel
	held   string
	slot   int
	tag    uint64 // delivery tag of the message that represents the slot
	limit  int    // limit that the caller of acquire has stated
	token  int64  // fencing token of the last grant
	// declared are the names of the exchanges that this client has created.
	declared map[string]bool
}

// New returns a client, which connects at its first use.
func New(_ context.Context, url string, d Design) (*Client, error) {
	return &Client{url: url, design: d}, nil
}

// connect opens a connection and a channel, if there are none. A slot that was held on an old connection or channel
// is lost.
func (c *Client) connect() (err error) {
	if c.conn == nil || c.conn.IsClosed() {
		c.ch, c.held = nil, ""
		if c.conn, err = amqp.Dial(c.url); err != nil {
			return err
		}
	}
	if c.ch == nil || c.ch.IsClosed() {
		c.held = ""
		c.ch, err = c.conn.Channel()
	}
	return err
}

func (c *Client) abandon() {
	c.held = ""
	if c.conn != nil && !c.conn.IsClosed() {
		c.conn.Close()
	}
}

// aside calls do with a new channel, so that a refusal, which closes the channel, does not release a held slot.
func (c *Client) aside(do func(*amqp.Channel) error) error {
	ch, err := c.conn.Channel()
	if err != nil {
		return err
	}
	if err := do(ch); err != nil {
		return err
	}
	return ch.Close()
}

// refused reports whether the broker has refused a request with this code.
func refused(err error, code int) bool {
	var closed *amqp.Error
	return errors.As(err, &closed) && closed.Code == code
}

// Acquire tries to acquire a slot of a lock. It returns the slot's number, or 0.
func (c *Client) Acquire(_ context.Context, name string) (int, error) {
	if err := c.connect(); err != nil {
		return 0, err
	}
	slot, err := c.design.claim(c, name)
	switch {
	case err != nil:
		c.abandon()
		return 0, err
	case slot > 0:
		c.held, c.slot = name, slot
	}
	return slot, nil
}

// Verify reports whether the slot is still held.
func (c *Client) Verify(_ context.Context, name string, slot int) (bool, error) {
	if c.held != name || c.slot != slot {
		return false, nil
	}
	if err := c.design.look(c, name, slot); err != nil {
		c.abandon()
	}
	return c.held == name, nil
}

// Release releases the slot.
func (c *Client) Release(_ context.Context, name string, slot int) error {
	if c.held != name || c.slot != slot {
		return nil
	}
	c.held = ""
	if err := c.design.giveBack(c, name, slot); err != nil {
		c.abandon()
	}
	return nil
}

// Create creates a lock with the given number of slots. If it exists with fewer slots, Create adds the missing ones.
func (c *Client) Create(_ context.Context, name string, slots int) error {
	return c.administer(name, func() error { return c.design.(Created).create(c, name, slots) })
}

// Destroy deletes a lock that nobody holds.
func (c *Client) Destroy(_ context.Context, name string) error {
	return c.administer(name, func() error { return c.design.(Created).destroy(c, name) })
}

// Count returns the number of slots of a lock.
func (c *Client) Count(_ context.Context, name string) (int, error) {
	if err := c.connect(); err != nil {
		return 0, err
	}
	n, err := c.design.(Created).count(c, name)
	if err != nil && !errors.Is(err, ErrBusy) {
		c.abandon()
	}
	return n, err
}

// administer calls change while no other client changes the lock.
func (c *Client) administer(name string, change func() error) error {
	if err := c.connect(); err != nil {
		return err
	}
	err := c.aside(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(name+".admin", false, false, true, false, nil)
		return err
	})
	if refused(err, amqp.ResourceLocked) {
		return ErrBusy
	}
	if err == nil {
		err = change()
	}
	if err != nil && !errors.Is(err, ErrBusy) {
		c.abandon()
		return err
	}
	if _, gone := c.ch.QueueDelete(name+".admin", false, false, false); gone != nil {
		c.abandon()
		return gone
	}
	return err
}

// Close closes the connection, which releases what the client holds.
func (c *Client) Close() error {
	c.abandon()
	return nil
}
