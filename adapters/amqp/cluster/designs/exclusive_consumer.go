package designs

import amqp "github.com/rabbitmq/amqp091-go"

// exclusiveConsumer is the design in which a client holds the lock as the exclusive consumer of a queue. The server
// refuses other consumers.
type exclusiveConsumer struct{}

func (exclusiveConsumer) claim(c *client, queue string) (bool, error) {
	_, err := c.ch.Consume(queue, consumer, true, true, false, false, nil)
	if err == nil {
		return true, nil
	}
	_, err = c.refused(err, amqp.AccessRefused, amqp.NotFound)
	return false, err
}

// look does nothing, because the server reports the end of the consumer itself, with basic.cancel.
func (exclusiveConsumer) look(*client, string) error { return nil }

func (exclusiveConsumer) giveBack(c *client, _ string) error { return c.ch.Cancel(consumer, false) }
