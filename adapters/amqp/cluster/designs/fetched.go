package designs

import amqp "github.com/rabbitmq/amqp091-go"

// fetched is the design in which a client holds the lock while it has fetched the queue's only message and not
// acknowledged it.
type fetched struct{}

func (fetched) claim(c *client, queue string) (bool, error) {
	message, held, err := c.ch.Get(queue, false)
	if err != nil {
		_, err = c.refused(err, amqp.NotFound) // NotFound: the node that has the queue is unreachable
		return false, err
	}
	c.tag = message.DeliveryTag
	return held, nil
}

// look does nothing, because AMQP cannot ask which client has a message.
func (fetched) look(*client, string) error { return nil }

func (fetched) giveBack(c *client, _ string) error { return c.ch.Nack(c.tag, false, true) }
