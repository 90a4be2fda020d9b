package designs

import amqp "github.com/rabbitmq/amqp091-go"

// fetched holds the lock by the only message of a queue, which the client has fetched and not acknowledged.
type fetched struct{}

func (fetched) claim(c *client, queue string) (bool, error) {
	message, held, err := c.ch.Get(queue, false)
	if err != nil {
		_, err = c.refused(err, amqp.NotFound) // its node is unreachable
		return false, err
	}
	c.tag = message.DeliveryTag
	return held, nil
}

// look does nothing: AMQP has no query for the holder of a message.
func (fetched) look(*client, string) error { return nil }

func (fetched) giveBack(c *client, _ string) error { return c.ch.Nack(c.tag, false, true) }
