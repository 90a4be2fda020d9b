package amqplocks

import (
	"context"
	"errors"
	"fmt"
	"net"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Client is one client of semaphores. It is not safe for concurrent use.
type Client struct{ *session }

// New makes a client, connected to a broker.
func New(ctx context.Context, url string) (*Client, error) { return NewWith(ctx, url, NoBug) }

// NewWith makes a client with a bug.
func NewWith(_ context.Context, url string, bug Bug) (*Client, error) {
	s := &session{url: url, dial: amqp.Dial, names: guidelines, bug: bug}
	return &Client{s}, s.connect()
}

// NewDialing makes a client with a bug that reaches the broker by a connection of somebody else's making.
func NewDialing(_ context.Context, url string, dial func(network, address string) (net.Conn, error), bug Bug) (*Client, error) {
	s := &session{url: url, names: guidelines, bug: bug}
	s.dial = func(url string) (*amqp.Connection, error) { return amqp.DialConfig(url, amqp.Config{Dial: dial}) }
	return &Client{s}, s.connect()
}

// Bounds.
const (
	MaxSlots    = 30 // where looking for slots ends
	claims      = 4  // attempts at slots that somebody else claimed first
	adminClaims = 4  // attempts at the administration mutex
	polls       = 4  // looks at a slot that is waited for
)

// ErrBusy is the error of a call that did nothing, because others were in the way until the last attempt.
var ErrBusy = errors.New("others were in the way until the last attempt")

// Naming is what queues are called, as formats of the semaphore's name and the slot.
type Naming struct{ A, B string }

// guidelines are the names of the guidelines.
var guidelines = Naming{"%[1]s-%[2]d-A", "%[1]s-%[2]d-B"}

// NewNamed makes a client that calls its queues by other names, with a bug.
func NewNamed(ctx context.Context, url string, names Naming, bug Bug) (*Client, error) {
	c, err := NewWith(ctx, url, bug)
	c.names = names
	return c, err
}

func (c *Client) a(name string, slot int) string { return fmt.Sprintf(c.names.A, name, slot) }
func (c *Client) b(name string, slot int) string { return fmt.Sprintf(c.names.B, name, slot) }

// Acquire is the slot that is now held, or 0 if all are taken.
func (c *Client) Acquire(_ context.Context, name string) (int, error) {
	if err := c.connect(); err != nil {
		return 0, err
	}
	for slot, lost := 1, 0; slot <= MaxSlots; {
		there, err := c.exists(c.a(name, slot))
		if err != nil || !there {
			return 0, err
		}
		taken, err := c.exists(c.b(name, slot))
		if err != nil {
			return 0, err
		}
		if taken {
			slot++
			continue
		}
		mine, err := c.claim(c.b(name, slot))
		if err != nil {
			return 0, err
		}
		if mine {
			return c.confirm(name, slot)
		}
		if slot, lost = 1, lost+1; lost == claims {
			return 0, ErrBusy
		}
	}
	return 0, nil
}

// confirm grants a slot, unless it was removed while it was claimed.
func (c *Client) confirm(name string, slot int) (int, error) {
	there, err := true, error(nil)
	if c.bug != NoSecondLook {
		there, err = c.exists(c.a(name, slot))
	}
	if err != nil {
		return 0, err
	}
	if !there {
		return 0, c.delete(c.b(name, slot))
	}
	c.held[name] = slot
	return slot, nil
}

// Verify reports whether the slot is still held. An answer from the broker on the connection that claimed
// it means that B is still ours; what is left to ask is whether the slot is still there.
func (c *Client) Verify(ctx context.Context, name string, slot int) (bool, error) {
	if c.held[name] != slot {
		return false, nil
	}
	there, err := c.exists(c.a(name, slot))
	if errors.Is(err, ErrLost) && c.bug == VerifyReconnects {
		if err := c.connect(); err != nil {
			return false, err
		}
		c.held[name] = slot
		there, err = c.exists(c.a(name, slot))
	}
	if err == nil && !there {
		err = c.Release(ctx, name, slot)
	}
	if errors.Is(err, ErrLost) {
		return false, nil
	}
	return there, err
}

// Release gives a slot back.
func (c *Client) Release(_ context.Context, name string, slot int) error {
	if c.held[name] != slot {
		return nil
	}
	delete(c.held, name)
	if c.bug == ReleaseClosesChannel {
		return c.ch.Close()
	}
	return c.delete(c.b(name, slot))
}

// Close closes the connection, and with it releases what is held.
func (c *Client) Close() error {
	if c.conn == nil || c.conn.IsClosed() {
		return nil
	}
	return c.conn.Close()
}
