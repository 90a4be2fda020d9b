package mutexes

import (
	"crypto/rand"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/testdata/targets/golang/confirm"
)

// Active is a mutex that uses the single active consumer of a queue: the client with that consumer holds the lock.
// The broker does not tell a client that its consumer has become the active one. So a client that acquires publishes
// a message: if it receives the message itself, its consumer is active.
type Active struct {
	// Subscribed is a bug: a client that consumes the queue believes that it holds the lock, as if its consumer were
	// exclusive.
	Subscribed bool
	// NotCancelled is a bug: a release does not cancel the consumer, so the lock stays taken.
	NotCancelled bool
	// FromMemory is a bug: verify does not ask the broker whether the lock is still held.
	FromMemory bool
}

func (a Active) claim(m *Mutex, name string) (active bool, err error) {
	arguments := amqp.Table{"x-single-active-consumer": true}
	if _, err := m.ch.QueueDeclare(name+".active", true, false, false, false, arguments); err != nil {
		return false, err
	}
	if err := m.ch.Confirm(false); err != nil {
		return false, err
	}
	for again := true; again && err == nil && !active; {
		active, again, err = a.try(m, name+".active")
	}
	return active, err
}

// try consumes the queue, and cancels its consumer if it is not the active one. again is true if the message arrived
// only after try had stopped waiting; then the caller tries again.
func (a Active) try(m *Mutex, queue string) (active, again bool, err error) {
	m.consumer = rand.Text()
	deliveries, err := m.ch.Consume(queue, m.consumer, true, false, false, false, nil)
	if err != nil {
		return false, false, err
	}
	if active = a.Subscribed; !active {
		if err := confirm.Publish(m.ch, queue, false, amqp.Publishing{MessageId: m.consumer}); err != nil {
			return false, false, err
		}
		active = echoed(deliveries, m.consumer)
	}
	if active {
		go func() { // drops the messages that other clients publish
			for range deliveries {
			}
		}()
		return true, false, nil
	}
	err = m.ch.Cancel(m.consumer, false)
	for d := range deliveries {
		again = again || d.MessageId == m.consumer
	}
	return false, again, err
}

// echoed reports whether the message with id mine arrives in time.
func echoed(deliveries <-chan amqp.Delivery, mine string) bool {
	for late := time.After(usually); ; {
		select {
		case d, open := <-deliveries:
			if !open || d.MessageId == mine {
				return open
			}
		case <-late:
			return false
		}
	}
}

func (a Active) look(m *Mutex, name string) error {
	if a.FromMemory {
		return nil
	}
	_, err := m.ch.QueueDeclarePassive(name+".active", true, false, false, false, nil)
	return err
}

func (a Active) giveBack(m *Mutex, _ string) error {
	if a.NotCancelled {
		return nil
	}
	return m.ch.Cancel(m.consumer, false)
}
