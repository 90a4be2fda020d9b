// Package semaphores has semaphores on RabbitMQ of other designs than the guidelines', with amqp091-go, and some with a
// bug each.
package semaphores

import (
	"context"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"
)

// ErrBusy is the error of a call that did nothing, because others were in the way.
var ErrBusy = errors.New("others are in the way")

// Design is how a semaphore holds its slots.
type Design interface {
	// claim tries to get a slot: its number, or 0.
	claim(*Client, string) (int, error)
	// look asks the broker something that it answers only if what was claimed is still held.
	look(*Client, string, int) error
	// giveBack gives a slot back.
	giveBack(*Client, string, int) error
}

// Created is the design of semaphores that are made with so many slots.
type Created interface {
	Design
	create(*Client, string, int) error
	destroy(*Client, string) error
	count(*Client, string) (int, error)
}

// Client is one client of semaphores: a connection, a channel for what is held, and one for each question that may end
// it. It holds one slot at most, and is not safe for concurrent use. Whatever goes wrong that is no answer, it gives the
// connection up, and with it what it holds.
type Client struct {
	url    string
	design Design
	conn   *amqp.Connection
	ch     *amqp.Channel
	held   string
	slot   int
	tag    uint64 // of the message that stands for the slot
	limit  int    // that its caller has stated
	token  int64  // the fencing token that it has drawn last
	// declared are the exchanges that it has made.
	declared map[string]bool
}

// New makes a client, which connects when it is first used.
func New(_ context.Context, url string, d Design) (*Client, error) {
	return &Client{url: url, design: d}, nil
}

// connect connects unless connected. A slot that was held went with the old connection, or the old channel.
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

// aside does something on a channel of its own, so that an answer that closes the channel takes nothing with it.
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

// refused reports whether the broker said no with this code.
func refused(err error, code int) bool {
	var closed *amqp.Error
	return errors.As(err, &closed) && closed.Code == code
}

// Acquire tries to get a slot of a lock: its number, or 0.
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

// Release gives the slot back.
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

// Create makes a lock with so many slots, or the slots that are missing.
func (c *Client) Create(_ context.Context, name string, slots int) error {
	return c.administer(name, func() error { return c.design.(Created).create(c, name, slots) })
}

// Destroy takes a lock away that nobody holds.
func (c *Client) Destroy(_ context.Context, name string) error {
	return c.administer(name, func() error { return c.design.(Created).destroy(c, name) })
}

// Count is how many slots a lock has.
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

// administer changes a lock while nobody else does.
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

// Close closes the connection, and with it releases what is held.
func (c *Client) Close() error {
	c.abandon()
	return nil
}
