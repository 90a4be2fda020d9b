// Package confirm publishes messages that are there by the time it returns.
package confirm

import (
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Publish publishes a message to a queue, on a channel in confirm mode, and waits until it is confirmed. By then the queue
// has the message, or a consumer of the queue has been sent it.
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
