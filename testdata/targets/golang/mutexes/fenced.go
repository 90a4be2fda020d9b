package mutexes

import (
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/testdata/targets/golang/confirm"
)

// Fencing is a client of mutexes that give fencing tokens.
type Fencing struct{ *Mutex }

// Token returns the fencing token of the last grant.
func (f Fencing) Token(string, int) int64 { return f.token }

// Fenced is a mutex that uses an exclusive queue and gives fencing tokens. The holder publishes a message to a second
// queue; the number of messages there is the token. That queue grows with each grant. A design that consumed the
// messages could avoid that.
type Fenced struct {
	Queue
	// DrawnFirst is a bug: the token is drawn before the lock is acquired. Between the two, another client may draw a
	// larger token and hold the lock first.
	DrawnFirst bool
	// CountedByClient is a bug: the token is the number of this client's own grants.
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

// draw gets the next fencing token.
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

// put publishes a message to a queue, on a new channel, and waits until the broker has it.
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
