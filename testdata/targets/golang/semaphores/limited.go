package semaphores

import (
	"context"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Limiting is a design whose callers state how many may hold a lock at once.
type Limiting interface {
	Design
	limiting()
}

// LimitedClient is a client of such semaphores.
type LimitedClient struct{ *Client }

// AcquireLimited tries to get a slot of a lock that no more than so many may hold, as its caller says: its number, or 0.
func (c LimitedClient) AcquireLimited(ctx context.Context, name string, limit int) (int, error) {
	c.limit = limit
	return c.Acquire(ctx, name)
}

// Limited is a semaphore by numbered messages. Callers state how many of them may be taken. A client that takes one learns
// with it how many are left. It then asks how many there are, a number that does not shrink while one is taken. If too many
// are taken, its own among them, it puts its own back.
type Limited struct {
	Tokens
	// LooksFirst is the bug that looks how many are had before it takes one: others may take theirs in between.
	LooksFirst bool
	// CountsFirst is the bug that asks how many there are before it takes one: others may be made in between.
	CountsFirst bool
	// Ignores is the bug that takes what there is, whatever its caller says.
	Ignores bool
}

func (Limited) limiting() {}

func (l Limited) claim(c *Client, name string) (int, error) {
	size, err := c.size(name)
	if err != nil || size == 0 {
		return 0, err
	}
	if l.LooksFirst {
		if few, err := l.few(c, name, size); err != nil || !few {
			return 0, err
		}
	}
	d, ok, err := c.ch.Get(name+".tokens", false)
	switch {
	case refused(err, amqp.NotFound): // it was destroyed meanwhile
		return 0, nil
	case err != nil || !ok:
		return 0, err
	case !l.CountsFirst: // on the channel that has the message: if it answers, that is still so
		q, err := c.ch.QueueDeclarePassive(name+".size", true, false, false, false, nil)
		if err != nil {
			return 0, err
		}
		size = q.Messages
	}
	if size-int(d.MessageCount) > c.limit && !l.LooksFirst && !l.Ignores {
		return 0, c.ch.Nack(d.DeliveryTag, false, true)
	}
	c.tag = d.DeliveryTag
	return strconv.Atoi(string(d.Body))
}

// few reports whether fewer are had than the caller's limit.
func (l Limited) few(c *Client, name string, size int) (few bool, err error) {
	err = c.aside(func(ch *amqp.Channel) error {
		q, err := ch.QueueDeclarePassive(name+".tokens", true, false, false, false, nil)
		few = size-q.Messages < c.limit
		return err
	})
	if refused(err, amqp.NotFound) {
		return false, nil
	}
	return few, err
}

// Counted is a lock without creation, which as many may hold as callers say. A holder consumes one queue. A client that
// begins to consume learns how many do, and stops if these are too many.
type Counted struct {
	// LooksFirst is the bug that looks how many consume before it does: others may begin to in between.
	LooksFirst bool
}

func (Counted) limiting() {}

func (s Counted) claim(c *Client, name string) (int, error) {
	holders := func() (int, error) {
		q, err := c.ch.QueueDeclare(name+".holders", true, false, false, false, nil)
		return q.Consumers, err
	}
	there, err := holders()
	if err != nil || s.LooksFirst && there >= c.limit {
		return 0, err
	}
	deliveries, err := c.ch.Consume(name+".holders", "holder", true, false, false, false, nil)
	if err != nil {
		return 0, err
	}
	go func() {
		for range deliveries {
		}
	}()
	if there, err = holders(); err != nil || there <= c.limit || s.LooksFirst {
		return 1, err
	}
	return 0, s.giveBack(c, name, 1)
}

func (s Counted) look(c *Client, name string, _ int) error {
	_, err := c.ch.QueueDeclarePassive(name+".holders", true, false, false, false, nil)
	return err
}

func (s Counted) giveBack(c *Client, _ string, _ int) error { return c.ch.Cancel("holder", false) }
