package mutexes

import (
	"crypto/rand"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/testdata/targets/golang/confirm"
)

// Active is a mutex by the single active consumer of a queue: the client with that consumer holds the lock. The broker does
// not tell a client that its consumer has become the active one. A client that claims the lock therefore publishes a
// message: if it receives the message itself, its consumer is the active one.
type Active struct {
	// Subscribed is the bug that takes it for enough to consume the queue, as it would be if that were exclusive.
	Subscribed bool
	// NotCancelled is the bug that leaves the consumer to itself: the lock stays taken.
	NotCancelled bool
	// FromMemory is the bug that asks nobody whether the lock is still held.
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

// try consumes the queue, and stays only if it is the active consumer. One whose message comes when it has given up
// tries again.
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
		go func() { // what others publish
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

// echoed reports whether a message comes to its own publisher.
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
