// Package confirm publishes messages and waits for their confirms.
package confirm

import (
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Publish publishes a message to a queue and waits until the broker confirms it. The channel must be in confirm mode.
// When Publish returns, the message is in the queue, or was sent to a consumer of the queue.
func Publish(ch *amqp.Channel, queue string, mandatory bool, message amqp.Publishing) error {
	broken := ch.NotifyClose(make(chan *amqp.Error, 1))
	sent, err := ch.PublishWithDeferredConfirm("", queue, mandatory, false, message)
	if err != nil {
		return err
	}
	select {
	case <-sent.Done():
	case <-broken:
	}
	if !sent.Acked() {
		return errors.New("the message was not confirmed")
	}
	return nil
}
