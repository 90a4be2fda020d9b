package semaphores

import (
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Tokens is a semaphore that uses the messages of one queue. Each message has the number of a slot. A client that has
// the message unacknowledged holds the slot. A second queue has as many messages as there are slots.
type Tokens struct {
	// Alike uses messages without numbers. Then every slot has the number 1.
	Alike bool
	// InHeader has the slot numbers in a header of the messages, not in their bodies.
	InHeader bool
	// Acknowledged is a bug: a release acknowledges the message, which deletes the slot.
	Acknowledged bool
	// AckThenPublish is a bug: a release acknowledges the message, and then publishes it again. If the client dies in
	// between, the slot is lost.
	AckThenPublish bool
	// PublishThenAck is a bug: a release publishes the message again, and then acknowledges the old one. If the
	// client dies in between, there are two messages for the slot.
	PublishThenAck bool
	// NoAck is a bug: messages are fetched without acknowledgement. If the holder dies, nobody returns the message.
	NoAck bool
	// Twice is a bug: each creation of a lock publishes messages for all slots, even if they exist.
	Twice bool
	// FromMemory is a bug: verify does not ask the broker whether the slot is still held.
	FromMemory bool
	// OtherChannel is a bug: verify asks on another channel than the one that has the message.
	OtherChannel bool
	// All is a bug: an acquire takes all messages, as a subscription without a prefetch limit does, and a release
	// returns all.
	All bool
	// SizeAges is a bug: the messages that count the slots expire after a minute.
	SizeAges bool
}

func (t Tokens) claim(c *Client, name string) (int, error) {
	if there, err := c.size(name); err != nil || there == 0 {
		return 0, err
	}
	d, ok, err := c.ch.Get(name+".tokens", t.NoAck)
	if err != nil || !ok {
		if refused(err, amqp.NotFound) { // the lock was destroyed meanwhile
			return 0, nil
		}
		return 0, err
	}
	c.tag = d.DeliveryTag
	for more := t.All; more && err == nil; {
		var last amqp.Delivery
		if last, more, err = c.ch.Get(name+".tokens", false); more {
			c.tag = last.DeliveryTag
		}
	}
	if err != nil {
		return 0, err
	}
	if t.Alike {
		return 1, nil
	}
	if n, ok := d.Headers["slot"].(int32); ok && t.InHeader {
		return int(n), nil
	}
	return strconv.Atoi(string(d.Body))
}

func (t Tokens) look(c *Client, name string, _ int) error {
	switch {
	case t.FromMemory:
		return nil
	case t.OtherChannel:
		_, err := c.size(name)
		return err
	}
	_, err := c.ch.QueueDeclarePassive(name+".tokens", true, false, false, false, nil)
	return err
}

func (t Tokens) giveBack(c *Client, name string, slot int) error {
	switch {
	case t.Acknowledged:
		return c.ch.Ack(c.tag, false)
	case t.NoAck:
		return t.put(c, name, slot, false)
	case t.AckThenPublish:
		if err := c.ch.Ack(c.tag, false); err != nil {
			return err
		}
		return t.put(c, name, slot, false)
	case t.PublishThenAck:
		if err := t.put(c, name, slot, false); err != nil {
			return err
		}
		return c.ch.Ack(c.tag, false)
	}
	return c.ch.Nack(c.tag, t.All, true)
}

// size returns the number of slots of a lock. It returns 0 if the queue of messages does not exist, for example after
// an incomplete deletion.
func (c *Client) size(name string) (n int, err error) {
	err = c.aside(func(ch *amqp.Channel) error {
		for _, queue := range []string{".tokens", ".size"} {
			q, err := ch.QueueDeclarePassive(name+queue, true, false, false, false, nil)
			if err != nil {
				return err
			}
			n = q.Messages
		}
		return nil
	})
	if refused(err, amqp.NotFound) {
		return 0, nil
	}
	return n, err
}

// put publishes the message for a slot. If counted is true, it also publishes a message that counts the slot, in the
// same transaction.
func (t Tokens) put(c *Client, name string, slot int, counted bool) error {
	return c.aside(func(ch *amqp.Channel) error {
		if err := ch.Tx(); err != nil {
			return err
		}
		body := amqp.Publishing{DeliveryMode: amqp.Persistent}
		switch {
		case t.InHeader:
			body.Headers = amqp.Table{"slot": int32(slot)}
		case !t.Alike:
			body.Body = []byte(strconv.Itoa(slot))
		}
		if err := ch.Publish("", name+".tokens", false, false, body); err != nil {
			return err
		}
		if counted {
			if err := ch.Publish("", name+".size", false, false, body); err != nil {
				return err
			}
		}
		return ch.TxCommit()
	})
}

func (t Tokens) create(c *Client, name string, slots int) error {
	err := c.aside(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclarePassive(name+".tokens", true, false, false, false, nil)
		return err
	})
	if refused(err, amqp.NotFound) { // the second queue may be left over from an earlier lock
		_, err = c.ch.QueueDelete(name+".size", false, false, false)
	}
	if err != nil {
		return err
	}
	for _, queue := range []string{".tokens", ".size"} {
		var arguments amqp.Table
		if t.SizeAges && queue == ".size" {
			arguments = amqp.Table{"x-message-ttl": int32(60_000)}
		}
		if _, err := c.ch.QueueDeclare(name+queue, true, false, false, false, arguments); err != nil {
			return err
		}
	}
	there, err := c.size(name)
	if err != nil {
		return err
	}
	if t.Twice {
		there = 0
	}
	for slot := there + 1; slot <= slots; slot++ {
		if err := t.put(c, name, slot, true); err != nil {
			return err
		}
	}
	return nil
}

// destroy takes all messages, and then deletes the queues. If a client has a message, the messages that were taken
// are returned.
func (t Tokens) destroy(c *Client, name string) error {
	there, err := c.size(name)
	if err != nil || there == 0 {
		return err
	}
	return c.aside(func(ch *amqp.Channel) error {
		for range there {
			if _, ok, err := ch.Get(name+".tokens", false); err != nil {
				return err
			} else if !ok {
				if err := ch.Close(); err != nil {
					return err
				}
				return ErrBusy
			}
		}
		for _, queue := range []string{".tokens", ".size"} {
			if _, err := ch.QueueDelete(name+queue, false, false, false); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t Tokens) count(c *Client, name string) (int, error) { return c.size(name) }
