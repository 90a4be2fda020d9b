package semaphores

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Exchanges is a semaphore whose slots are exchanges. A slot exists as long as its exchange exists. The client with
// the slot's exclusive queue holds the slot. Slots can be added only to a lock that has at least one.
type Exchanges struct {
	// RemovesFirst is a bug: a removal deletes the first slots, not the last ones.
	RemovesFirst bool
	// NoneOfTwo is a bug: no slot can be added to a lock with several slots.
	NoneOfTwo bool
	// Remembers is a bug: the client does not create an exchange that it has created before, even if it was deleted
	// meanwhile.
	Remembers bool
}

func (Exchanges) exchange(name string, slot int) string { return fmt.Sprintf("%s.slot.%d", name, slot) }
func (Exchanges) holder(name string, slot int) string   { return fmt.Sprintf("%s.holder.%d", name, slot) }

// there reports whether a slot of a lock exists.
func (e Exchanges) there(c *Client, name string, slot int) (bool, error) {
	err := c.aside(func(ch *amqp.Channel) error {
		return ch.ExchangeDeclarePassive(e.exchange(name, slot), "fanout", true, false, false, false, nil)
	})
	if refused(err, amqp.NotFound) {
		return false, nil
	}
	return err == nil, err
}

func (e Exchanges) count(c *Client, name string) (int, error) {
	for slot := 1; slot <= MaxSlots; slot++ {
		if there, err := e.there(c, name, slot); !there || err != nil {
			return slot - 1, err
		}
	}
	return MaxSlots, nil
}

func (e Exchanges) claim(c *Client, name string) (int, error) {
	for slot := 1; slot <= MaxSlots; slot++ {
		if there, err := e.there(c, name, slot); !there || err != nil {
			return 0, err
		}
		err := c.aside(func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare(e.holder(name, slot), false, false, true, false, nil)
			return err
		})
		if refused(err, amqp.ResourceLocked) {
			continue
		}
		if err != nil {
			return 0, err
		}
		there, err := e.there(c, name, slot) // another client may have removed the slot meanwhile
		if there || err != nil {
			return slot, err
		}
		return 0, e.giveBack(c, name, slot)
	}
	return 0, nil
}

func (e Exchanges) look(c *Client, name string, slot int) error {
	if _, err := c.ch.QueueDeclarePassive(e.holder(name, slot), false, false, true, false, nil); err != nil {
		return err
	}
	there, err := e.there(c, name, slot)
	if !there && err == nil {
		c.held = ""
		return e.giveBack(c, name, slot)
	}
	return err
}

func (e Exchanges) giveBack(c *Client, name string, slot int) error {
	_, err := c.ch.QueueDelete(e.holder(name, slot), false, false, false)
	return err
}

func (e Exchanges) create(c *Client, name string, slots int) error {
	for slot := 1; slot <= slots; slot++ {
		exchange := e.exchange(name, slot)
		if e.Remembers && c.declared[exchange] {
			continue
		}
		if err := c.ch.ExchangeDeclare(exchange, "fanout", true, false, false, false, nil); err != nil {
			return err
		}
		if c.declared == nil {
			c.declared = make(map[string]bool)
		}
		c.declared[exchange] = true
	}
	return nil
}

func (e Exchanges) add(c *Client, name string, slots int) error {
	switch there, err := e.count(c, name); {
	case err != nil:
		return err
	case there == 0 || e.NoneOfTwo && there > 1:
		return ErrBusy
	default:
		return e.create(c, name, there+slots)
	}
}

// remove deletes the last slots, even if they are held. A holder learns of it at its next verify.
func (e Exchanges) remove(c *Client, name string, slots int) error {
	there, err := e.count(c, name)
	if err == nil && there == 0 {
		err = ErrBusy
	}
	for n := 0; n < min(slots, there) && err == nil; n++ {
		slot := there - n
		if e.RemovesFirst {
			slot = 1 + n
		}
		err = c.ch.ExchangeDelete(e.exchange(name, slot), false, false)
	}
	return err
}

func (e Exchanges) destroy(c *Client, name string) error {
	there, err := e.count(c, name)
	if there == 0 || err != nil {
		return err
	}
	return e.remove(c, name, there)
}
