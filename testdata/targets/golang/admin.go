package amqplocks

import (
	"context"
	"errors"
)

// Create makes a semaphore with so many slots.
func (c *Client) Create(_ context.Context, name string, slots int) error {
	return c.administer(name, func() error { return c.grow(name, 1, slots) })
}

// Add makes so many slots more.
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

// Remove takes away the last slots, the highest first, so that there is never a hole. A client that holds one keeps it
// until it verifies.
func (c *Client) Remove(ctx context.Context, name string, slots int) error {
	return c.administer(name, func() error {
		top, err := c.Count(ctx, name)
		for slot := top; err == nil && slot > max(0, top-slots); slot-- {
			err = c.delete(c.a(name, slot))
		}
		return err
	})
}

// Destroy takes away all slots.
func (c *Client) Destroy(ctx context.Context, name string) error {
	return c.Remove(ctx, name, MaxSlots)
}

// Count is how many slots there are, held or not.
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

// Wait waits until nobody holds a slot, which should have been removed.
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

// administer changes slots while nobody else does.
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
			if errors.Is(err, ErrLost) { // the mutex went with it
				return err
			}
			return errors.Join(err, c.delete(mutex))
		}
	}
	return ErrBusy
}
