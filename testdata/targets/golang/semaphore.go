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

// New returns a client without a bug, connected to a broker.
func New(ctx context.Context, url string) (*Client, error) { return NewWith(ctx, url, NoBug) }

// NewWith returns a client with the given bug.
func NewWith(_ context.Context, url string, bug Bug) (*Client, error) {
	s := &session{url: url, dial: amqp.Dial, names: guidelines, bug: bug}
	return &Client{s}, s.connect()
}

// NewDialing returns a client with a bug. The function dial opens its connections.
func NewDialing(_ context.Context, url string, dial func(network, address string) (net.Conn, error), bug Bug) (*Client, error) {
	s := &session{url: url, names: guidelines, bug: bug}
	s.dial = func(url string) (*amqp.Connection, error) { return amqp.DialConfig(url, amqp.Config{Dial: dial}) }
	return &Client{s}, s.connect()
}

// Limits of the loops over slots and of retries.
const (
	MaxSlots    = 30 // highest slot number
	claims      = 4  // attempts to claim a slot if other clients are faster
	adminClaims = 4  // attempts to acquire the administration mutex
	polls       = 4  // checks of a slot in Wait
)

// ErrBusy is the error of a call that had no effect, because other clients were in the way at each attempt.
var ErrBusy = errors.New("others were in the way until the last attempt")

// Naming has the formats of queue names. Their arguments are the semaphore's name and the slot number.
type Naming struct{ A, B string }

// guidelines are the names that the amqp-locks guidelines prescribe.
var guidelines = Naming{"%[1]s-%[2]d-A", "%[1]s-%[2]d-B"}

// NewNamed returns a client with a bug. The formats of the names of its queues are those in names.
func NewNamed(ctx context.Context, url string, names Naming, bug Bug) (*Client, error) {
	c, err := NewWith(ctx, url, bug)
	c.names = names
	return c, err
}

func (c *Client) a(name string, slot int) string { return fmt.Sprintf(c.names.A, name, slot) }
func (c *Client) b(name string, slot int) string { return fmt.Sprintf(c.names.B, name, slot) }

// Acquire tries to acquire a slot. It returns the slot's number, or 0 if all are taken.
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

// confirm grants a claimed slot, unless the slot was removed meanwhile.
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

// Verify reports whether the slot is still held. If the broker answers on the connection that claimed the slot, queue
// B still belongs to this client. So Verify only asks whether the slot's queue A still exists.
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

// Release releases a slot.
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

// Close closes the connection, which releases what the client holds.
func (c *Client) Close() error {
	if c.conn == nil || c.conn.IsClosed() {
		return nil
	}
	return c.conn.Close()
}
