package semaphores

import (
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/testdata/targets/golang/confirm"
)

// FencedClient is a client of semaphores that give fencing tokens.
type FencedClient struct{ *Client }

// Token is the fencing token of the slot that it has acquired.
func (c FencedClient) Token(string, int) int64 { return c.token }

// Fenced is a semaphore by numbered messages that gives fencing tokens: who has a message publishes to another queue, and how
// many messages that has then is the token. Clients that draw at the same time may draw the same.
type Fenced struct {
	Tokens
	// DrawnFirst is the bug that draws the token before a slot is had: who is overtaken in between has a smaller one than who
	// held it before.
	DrawnFirst bool
	// BySlot is the bug that counts the grants of each slot by itself: one slot's may be larger than a later one's of another.
	BySlot bool
}

func (f Fenced) claim(c *Client, name string) (slot int, err error) {
	if f.DrawnFirst {
		if err := f.draw(c, name, 0); err != nil {
			return 0, err
		}
	}
	slot, err = f.Tokens.claim(c, name)
	if slot > 0 && err == nil && !f.DrawnFirst {
		err = f.draw(c, name, slot)
	}
	return slot, err
}

// draw draws the next token. Its last request goes by the channel that has the message: if it is answered, the channel
// still has it.
func (f Fenced) draw(c *Client, name string, slot int) error {
	numbers := name + ".numbers"
	if f.BySlot {
		numbers += "." + strconv.Itoa(slot)
	}
	if _, err := c.ch.QueueDeclare(numbers, true, false, false, false, nil); err != nil {
		return err
	}
	if err := c.aside(func(ch *amqp.Channel) error { return confirmed(ch, numbers) }); err != nil {
		return err
	}
	q, err := c.ch.QueueDeclarePassive(numbers, true, false, false, false, nil)
	c.token = int64(q.Messages)
	return err
}

// confirmed publishes a message to a queue and waits until the broker has it.
func confirmed(ch *amqp.Channel, queue string) error {
	if err := ch.Confirm(false); err != nil {
		return err
	}
	return confirm.Publish(ch, queue, true, amqp.Publishing{DeliveryMode: amqp.Persistent})
}
