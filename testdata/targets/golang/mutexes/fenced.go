package mutexes

import (
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/testdata/targets/golang/confirm"
)

// Fencing is a client of mutexes that give fencing tokens.
type Fencing struct{ *Mutex }

// Token is the fencing token of what it has acquired.
func (f Fencing) Token(string, int) int64 { return f.token }

// Fenced is a mutex by an exclusive queue that gives fencing tokens. The holder publishes to another queue, and the number
// of messages there is the token. The other queue grows with each grant; one that is consumed from would not have to.
type Fenced struct {
	Queue
	// DrawnFirst is the bug that draws the token before the lock is had: who is overtaken in between has a smaller one than
	// who held it before.
	DrawnFirst bool
	// CountedByClient is the bug that has each client count its own grants.
	CountedByClient bool
}

func (f Fenced) claim(m *Mutex, name string) (held bool, err error) {
	if f.DrawnFirst {
		if err := f.draw(m, name); err != nil {
			return false, err
		}
	}
	held, err = f.Queue.claim(m, name)
	if held && !f.DrawnFirst {
		err = f.draw(m, name)
	}
	return held && err == nil, err
}

// draw draws the next token.
func (f Fenced) draw(m *Mutex, name string) error {
	if f.CountedByClient {
		m.token++
		return nil
	}
	numbers := name + ".numbers"
	if _, err := m.ch.QueueDeclare(numbers, true, false, false, false, nil); err != nil {
		return err
	}
	if err := m.put(numbers); err != nil {
		return err
	}
	q, err := m.ch.QueueDeclarePassive(numbers, true, false, false, false, nil)
	m.token = int64(q.Messages)
	return err
}

// put publishes a message to a queue, on a channel of its own, and waits until the broker has it.
func (m *Mutex) put(queue string) error {
	ch, err := m.conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	if err := confirm.Publish(ch, queue, true, amqp.Publishing{DeliveryMode: amqp.Persistent}); err != nil {
		return err
	}
	return ch.Close()
}
