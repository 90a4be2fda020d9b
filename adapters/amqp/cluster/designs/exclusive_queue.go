package designs

import amqp "github.com/rabbitmq/amqp091-go"

// exclusiveQueue is the design in which a client holds the lock by declaring an exclusive queue. Only the declaring
// connection can use that queue.
type exclusiveQueue struct{ asks bool }

func (exclusiveQueue) claim(c *client, queue string) (bool, error) {
	_, err := c.ch.QueueDeclare(queue, false, false, true, false, nil)
	if err == nil {
		return true, nil
	}
	_, err = c.refused(err, amqp.ResourceLocked, amqp.NotFound) // NotFound: the node that has the queue is unreachable
	return false, err
}

// look declares the queue passively, which is refused if the queue is gone or belongs to another connection.
func (e exclusiveQueue) look(c *client, queue string) error {
	if !e.asks {
		return nil
	}
	_, err := c.ch.QueueDeclarePassive(queue, false, false, true, false, nil)
	return err
}

func (exclusiveQueue) giveBack(c *client, queue string) error {
	_, err := c.ch.QueueDelete(queue, false, false, false)
	return err
}
