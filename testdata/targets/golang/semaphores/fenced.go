package semaphores

import (
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/testdata/targets/golang/confirm"
)

// FencedClient is a client of semaphores that give fencing tokens.
type FencedClient struct{ *Client }

// Token returns the fencing token of the last grant.
func (c FencedClient) Token(string, int) int64 { return c.token }

// Fenced is a semaphore that uses numbered messages and gives fencing tokens. A client that has got a message
// publishes one to another queue; the number of messages there is the token. Clients that do so at the same time may
// get the same token.
type Fenced struct {
	Tokens
	// DrawnFirst is a bug: the token is drawn before the slot is acquired. Between the two, another client may draw a
	// larger token and hold the slot first.
	DrawnFirst bool
	// BySlot is a bug: the grants of each slot are counted separately. So a later grant of another slot may have a
	// smaller token.
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

// draw gets the next token. Its last request uses the channel that has the slot's message. If the broker answers this
// request, the client still has the message, and so the slot.
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
