package several

import (
	amqp "github.com/rabbitmq/amqp091-go"
)

// Queue is a mutex that uses an exclusive queue: the client whose connection has the queue holds the lock.
type Queue struct{}

func (Queue) claim(c *Client, ch *amqp.Channel, name string) (uint64, bool, error) {
	arguments := amqp.Table{}
	if c.bug == Expires {
		arguments["x-expires"] = int32(4_000)
	}
	_, err := ch.QueueDeclare("lock."+name, false, false, true, false, arguments)
	if refused(err, amqp.ResourceLocked) {
		return 0, false, nil
	}
	return 0, err == nil, err
}

func (Queue) giveBack(_ *Client, ch *amqp.Channel, name string, _ uint64) error {
	_, err := ch.QueueDelete("lock."+name, false, false, false)
	return err
}

// forsake closes the connection, since the queue belongs to it.
func (Queue) forsake(c *Client) { c.Close() }

// Token is a mutex that uses the only message of a queue: the client that has it unacknowledged holds the lock. The
// message is published through an exchange of its own. A release returns the message to the queue. While a client
// creates the queue, the client has a second, exclusive queue. A third queue marks that creation is complete.
type Token struct{}

func (Token) claim(c *Client, ch *amqp.Channel, name string) (uint64, bool, error) {
	made, err := c.made(name)
	if err != nil {
		return 0, false, err
	}
	if !made {
		if made, err = c.make(name); err != nil || !made {
			return 0, false, err
		}
	}
	d, ok, err := ch.Get("token."+name, false)
	return d.DeliveryTag, ok, err
}

func (Token) giveBack(c *Client, ch *amqp.Channel, name string, tag uint64) error {
	aside, err := c.conn.Channel()
	if err != nil {
		return err
	}
	defer aside.Close()
	if tag > 0 && c.bug != ReleasesAnyway && c.bug != ReleasesAfterNo {
		return ch.Nack(tag, c.bug == TakesAlong, true)
	}
	if err := ch.Tx(); err != nil {
		return err
	}
	if err := put(ch, name); err != nil {
		return err
	}
	if tag > 0 {
		if err := ch.Ack(tag, false); err != nil {
			return err
		}
	}
	return ch.TxCommit()
}

// forsake does nothing, since the token was returned when the channel was closed.
func (Token) forsake(*Client) {}

// Tidy is like [Token], but a client that has lost a lock releases all its other locks: it closes their channels, and
// then the connection.
type Tidy struct{ Token }

func (Tidy) forsake(c *Client) {
	for _, h := range c.holds {
		c.close(h.ch)
	}
	c.Close()
}

func put(ch *amqp.Channel, name string) error {
	return ch.Publish("exchange."+name, "token", true, false, amqp.Publishing{DeliveryMode: amqp.Persistent})
}

// aside calls do with a new channel.
func (c *Client) aside(do func(*amqp.Channel) error) error {
	ch, err := c.conn.Channel()
	if err != nil {
		return err
	}
	if err := do(ch); err != nil {
		return err
	}
	return ch.Close()
}

func (c *Client) made(name string) (bool, error) {
	err := c.aside(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclarePassive("made."+name, true, false, false, false, nil)
		return err
	})
	if refused(err, amqp.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// make creates the queue with its token. It returns false if another client is doing so.
func (c *Client) make(name string) (done bool, err error) {
	err = c.aside(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare("making."+name, false, false, true, false, nil)
		return err
	})
	if refused(err, amqp.ResourceLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if done, err = c.made(name); err != nil {
		return false, err
	}
	err = c.aside(func(ch *amqp.Channel) error {
		if !done {
			if err := c.declare(ch, name); err != nil {
				return err
			}
		}
		_, err := ch.QueueDelete("making."+name, false, false, false)
		return err
	})
	return err == nil, err
}

func (c *Client) declare(ch *amqp.Channel, name string) error {
	var arguments amqp.Table
	if c.bug == Ages {
		arguments = amqp.Table{"x-message-ttl": int32(4_000)}
	}
	if err := ch.ExchangeDeclare("exchange."+name, "direct", true, false, false, false, nil); err != nil {
		return err
	}
	if _, err := ch.QueueDeclare("token."+name, true, false, false, false, arguments); err != nil {
		return err
	}
	if err := ch.QueueBind("token."+name, "token", "exchange."+name, false, nil); err != nil {
		return err
	}
	if _, err := ch.QueuePurge("token."+name, false); err != nil {
		return err
	}
	if err := ch.Tx(); err != nil {
		return err
	}
	if err := put(ch, name); err != nil {
		return err
	}
	if err := ch.TxCommit(); err != nil {
		return err
	}
	_, err := ch.QueueDeclare("made."+name, true, false, false, false, nil)
	return err
}
