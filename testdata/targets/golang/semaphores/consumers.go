package semaphores

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Consumers is a semaphore that uses exclusive consumers. Each slot is a queue; the client that consumes the queue
// holds the slot.
type Consumers struct {
	// NotExclusive is a bug: the consumers are not exclusive.
	NotExclusive bool
	// NotCancelled is a bug: a release does not cancel the consumer.
	NotCancelled bool
	// FromMemory is a bug: verify does not ask the broker whether the slot is still held.
	FromMemory bool
	// Refusal is a bug: after ACCESS_REFUSED, the client opens the channel again and believes that it holds the slot.
	Refusal bool
}

// MaxSlots is the highest slot number.
const MaxSlots = 30

func slotQueue(name string, slot int) string { return fmt.Sprintf("slots/%d/of/%s", slot-1, name) }

func (s Consumers) claim(c *Client, name string) (int, error) {
	for slot := 1; slot <= MaxSlots; slot++ {
		deliveries, err := c.ch.Consume(slotQueue(name, slot), "holder", true, !s.NotExclusive, false, false, nil)
		switch {
		case err == nil:
			go func() {
				for range deliveries {
				}
			}()
			return slot, nil
		case refused(err, amqp.NotFound):
			return 0, c.connect()
		case !refused(err, amqp.AccessRefused):
			return 0, err
		}
		if err := c.connect(); err != nil {
			return 0, err
		}
		if s.Refusal {
			return slot, nil
		}
	}
	return 0, nil
}

func (s Consumers) look(c *Client, name string, slot int) error {
	if s.FromMemory {
		return nil
	}
	_, err := c.ch.QueueDeclarePassive(slotQueue(name, slot), true, false, false, false, nil)
	return err
}

func (s Consumers) giveBack(c *Client, _ string, _ int) error {
	if s.NotCancelled {
		return nil
	}
	return c.ch.Cancel("holder", false)
}

func (s Consumers) create(c *Client, name string, slots int) error {
	for slot := 1; slot <= slots; slot++ {
		if _, err := c.ch.QueueDeclare(slotQueue(name, slot), true, false, false, false, nil); err != nil {
			return err
		}
	}
	return nil
}

// destroy deletes all slots, the last one first. It fails with ErrBusy if a client holds the last one.
func (s Consumers) destroy(c *Client, name string) error {
	there, err := s.count(c, name)
	if err != nil {
		return err
	}
	for slot := there; slot >= 1; slot-- {
		err := c.aside(func(ch *amqp.Channel) error {
			_, err := ch.QueueDelete(slotQueue(name, slot), true, false, false)
			return err
		})
		if refused(err, amqp.PreconditionFailed) && slot == there {
			return ErrBusy
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s Consumers) count(c *Client, name string) (int, error) {
	for slot := 1; slot <= MaxSlots; slot++ {
		err := c.aside(func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclarePassive(slotQueue(name, slot), true, false, false, false, nil)
			return err
		})
		if refused(err, amqp.NotFound) {
			return slot - 1, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return MaxSlots, nil
}
