package semaphores

import amqp "github.com/rabbitmq/amqp091-go"

// Resizable is a semaphore whose slots can be added and removed.
type Resizable interface {
	Created
	add(c *Client, name string, slots int) error
	remove(c *Client, name string, slots int) error
}

// Account is a semaphore that uses messages without numbers, one for each slot. Messages can be added and removed. A
// second queue, the account, has one entry for each message. Both queues change in one transaction. Only one client
// at a time changes or counts the slots.
type Account struct {
	Tokens
	// Taken is a bug: a removal does not check that it got a message. If the slot is held, only the entry is removed.
	Taken bool
}

// Add adds the given number of slots.
func (c *Client) Add(name string, slots int) error {
	return c.administer(name, func() error { return c.design.(Resizable).add(c, name, slots) })
}

// Remove removes slots. It fails with ErrBusy if too few slots are free.
func (c *Client) Remove(name string, slots int) error {
	return c.administer(name, func() error { return c.design.(Resizable).remove(c, name, slots) })
}

func (a Account) count(c *Client, name string) (n int, err error) {
	err = c.administer(name, func() (err error) {
		n, err = c.size(name)
		return err
	})
	return n, err
}

func (a Account) add(c *Client, name string, slots int) error {
	switch there, err := c.size(name); {
	case err != nil:
		return err
	case there == 0:
		return ErrBusy
	}
	return a.put(c, name, slots)
}

// put publishes the given number of messages, and an entry for each.
func (a Account) put(c *Client, name string, slots int) error {
	return c.aside(func(ch *amqp.Channel) error {
		if err := ch.Tx(); err != nil {
			return err
		}
		for range slots {
			for _, queue := range []string{".tokens", ".size"} {
				if err := ch.Publish("", name+queue, false, false, amqp.Publishing{DeliveryMode: amqp.Persistent}); err != nil {
					return err
				}
			}
		}
		return ch.TxCommit()
	})
}

func (a Account) create(c *Client, name string, slots int) error {
	if err := a.Tokens.create(c, name, 0); err != nil {
		return err
	}
	there, err := c.size(name)
	if err != nil || there >= slots {
		return err
	}
	return a.put(c, name, slots-there)
}

// destroy deletes the lock, even if it has no slots.
func (a Account) destroy(c *Client, name string) error {
	switch there, err := c.size(name); {
	case err != nil:
		return err
	case there > 0:
		return a.Tokens.destroy(c, name)
	}
	for _, queue := range []string{".tokens", ".size"} {
		if _, err := c.ch.QueueDelete(name+queue, false, false, false); err != nil {
			return err
		}
	}
	return nil
}

// remove takes messages from the queue, and then their entries. If there are too few messages, because clients hold
// them, closing the channel returns those that were taken.
func (a Account) remove(c *Client, name string, slots int) error {
	switch there, err := c.size(name); {
	case err != nil:
		return err
	case there < slots:
		return ErrBusy
	}
	return c.aside(func(ch *amqp.Channel) error {
		if err := ch.Tx(); err != nil {
			return err
		}
		for _, queue := range []string{".tokens", ".size"} {
			taken, err := take(ch, name+queue, slots)
			if err != nil {
				return err
			}
			if taken < slots && !a.Taken {
				if err := ch.Close(); err != nil {
					return err
				}
				return ErrBusy
			}
		}
		return ch.TxCommit()
	})
}

// take takes messages from a queue, and returns how many it has taken; most is the maximum.
func take(ch *amqp.Channel, queue string, most int) (taken int, err error) {
	for ; taken < most; taken++ {
		d, ok, err := ch.Get(queue, false)
		if err != nil || !ok {
			return taken, err
		}
		if err := d.Ack(false); err != nil {
			return taken, err
		}
	}
	return taken, nil
}
