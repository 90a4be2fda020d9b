package designs

import (
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// delivered is the design in which a client holds the lock while the queue's only message is delivered to it and not
// acknowledged. The consumer stays while the lock is held, so that the server can report its end to the client.
type delivered struct{}

// deliveryTime is how long Acquire waits for a delivery before it cancels its consumer.
const deliveryTime = 200 * time.Millisecond

const consumer = "holder"

func (delivered) claim(c *client, queue string) (bool, error) {
	if err := c.ch.Qos(1, 0, false); err != nil {
		return false, err
	}
	deliveries, err := c.ch.Consume(queue, consumer, false, false, false, false, nil)
	if err != nil {
		_, err = c.refused(err, amqp.NotFound)
		return false, err
	}
	select {
	case message, open := <-deliveries:
		c.tag = message.DeliveryTag
		return open, nil
	case <-time.After(deliveryTime):
	}
	if err := c.ch.Cancel(consumer, false); err != nil {
		return false, err
	}
	held := false
	for message := range deliveries { // the token may have been delivered before the cancel; it is returned below
		c.tag, held = message.DeliveryTag, true
	}
	if held {
		return false, c.ch.Nack(c.tag, false, true)
	}
	return false, nil
}

// look does nothing, because the server reports the end of the consumer itself, with basic.cancel.
func (delivered) look(*client, string) error { return nil }

func (delivered) giveBack(c *client, _ string) error {
	if err := c.ch.Cancel(consumer, false); err != nil {
		return err
	}
	return c.ch.Nack(c.tag, false, true)
}
