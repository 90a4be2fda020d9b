package semaphores

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Consumers is a semaphore by exclusive consumers: a slot is a queue, and whoever consumes it holds the slot.
type Consumers struct {
	// NotExclusive is the bug that forgets to say so.
	NotExclusive bool
	// NotCancelled is the bug that leaves the consumer to itself.
	NotCancelled bool
	// FromMemory is the bug that asks nobody whether the slot is still held.
	FromMemory bool
	// Refusal is the bug that takes ACCESS_REFUSED for yes, as the channel is opened again.
	Refusal bool
}

// MaxSlots is where looking for slots ends.
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

// destroy deletes the last slot first, unless somebody holds it.
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
