package amqplocks

import (
	"context"
	"errors"
)

// Create creates a semaphore with the given number of slots.
func (c *Client) Create(_ context.Context, name string, slots int) error {
	return c.administer(name, func() error { return c.grow(name, 1, slots) })
}

// Add adds the given number of slots.
func (c *Client) Add(ctx context.Context, name string, slots int) error {
	return c.administer(name, func() error {
		top, err := c.Count(ctx, name)
		if err != nil {
			return err
		}
		return c.grow(name, top+1, top+slots)
	})
}

func (c *Client) grow(name string, first, last int) error {
	for slot := first; slot <= last; slot++ {
		if err := c.declare(c.a(name, slot)); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the given number of slots. It removes the highest slot first, so that the numbers have no gap. A
// client that holds a removed slot keeps it until its next verify.
func (c *Client) Remove(ctx context.Context, name string, slots int) error {
	return c.administer(name, func() error {
		top, err := c.Count(ctx, name)
		for slot := top; err == nil && slot > max(0, top-slots); slot-- {
			err = c.delete(c.a(name, slot))
		}
		return err
	})
}

// Destroy removes all slots.
func (c *Client) Destroy(ctx context.Context, name string) error {
	return c.Remove(ctx, name, MaxSlots)
}

// Count returns the number of slots, held or not.
func (c *Client) Count(_ context.Context, name string) (int, error) {
	if err := c.connect(); err != nil {
		return 0, err
	}
	for slot := 1; slot <= MaxSlots; slot++ {
		there, err := c.exists(c.a(name, slot))
		if err != nil || !there {
			return slot - 1, err
		}
	}
	return MaxSlots, nil
}

// Wait waits until nobody holds the slot. The slot should have been removed before.
func (c *Client) Wait(_ context.Context, name string, slot int) error {
	if err := c.connect(); err != nil {
		return err
	}
	for range polls {
		taken, err := c.exists(c.b(name, slot))
		if err != nil || !taken {
			return err
		}
	}
	return ErrBusy
}

// administer calls change while the client holds the administration mutex.
func (c *Client) administer(name string, change func() error) error {
	if err := c.connect(); err != nil {
		return err
	}
	mutex := name + "-admin"
	for range adminClaims {
		mine, err := c.claim(mutex)
		if err != nil {
			return err
		}
		if mine {
			err := change()
			if errors.Is(err, ErrLost) { // the mutex was lost with the connection
				return err
			}
			return errors.Join(err, c.delete(mutex))
		}
	}
	return ErrBusy
}
