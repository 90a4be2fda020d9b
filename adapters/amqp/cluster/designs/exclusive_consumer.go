package designs

import amqp "github.com/rabbitmq/amqp091-go"

// exclusiveConsumer holds the lock by being the exclusive consumer of a queue, which is refused to others.
type exclusiveConsumer struct{}

func (exclusiveConsumer) claim(c *client, queue string) (bool, error) {
	_, err := c.ch.Consume(queue, consumer, true, true, false, false, nil)
	if err == nil {
		return true, nil
	}
	_, err = c.refused(err, amqp.AccessRefused, amqp.NotFound)
	return false, err
}

// look asks nothing: the end of the consumer is told by basic.cancel.
func (exclusiveConsumer) look(*client, string) error { return nil }

func (exclusiveConsumer) giveBack(c *client, _ string) error { return c.ch.Cancel(consumer, false) }
