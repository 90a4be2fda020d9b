package semaphores

import (
	"context"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Limiting is a design whose callers state how many clients may hold a lock at once.
type Limiting interface {
	Design
	limiting()
}

// LimitedClient is a client of semaphores with a [Limiting] design.
type LimitedClient struct{ *Client }

// AcquireLimited tries to acquire a slot of a lock that at most limit clients may hold. It returns the slot's number,
// or 0.
func (c LimitedClient) AcquireLimited(ctx context.Context, name string, limit int) (int, error) {
	c.limit = limit
	return c.Acquire(ctx, name)
}

// Limited is a semaphore that uses numbered messages. Callers state how many of them may be taken. When a client gets
// a message, it learns how many are left. Then it asks how many messages exist; that number cannot shrink while a
// message is taken. If more messages are taken than its caller's limit, the client returns its own message.
type Limited struct {
	Tokens
	// LooksFirst is a bug: a client checks the limit before it takes a message. Other clients may take messages in
	// between.
	LooksFirst bool
	// CountsFirst is a bug: a client asks how many messages exist before it takes one. Other messages may be
	// created in between.
	CountsFirst bool
	// Ignores is a bug: a client ignores its caller's limit.
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
	case refused(err, amqp.NotFound): // the lock was destroyed meanwhile
		return 0, nil
	case err != nil || !ok:
		return 0, err
	case !l.CountsFirst: // ask on the channel that has the message: an answer means that the client still has it
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

// few reports whether fewer messages are taken than the caller's limit. size is the number of messages that exist.
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

// Counted is a lock that is not created before use, and whose callers state how many clients may hold it. Each holder
// consumes the same queue. A client that acquires begins to consume, learns the number of consumers, and stops if
// there are more than its limit.
type Counted struct {
	// LooksFirst is a bug: a client checks the number of consumers before it begins to consume. Other clients may
	// begin in between.
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
