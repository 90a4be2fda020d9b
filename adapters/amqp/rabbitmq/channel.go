package rabbitmq

import (
	"errors"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/model/amqp"
)

// maxReturns is the size of the buffer for returned messages, which is emptied after every command. If it is full,
// amqp091-go blocks, and then drops messages.
const maxReturns = 1 << 12

// channel is a channel that the client has opened and not closed.
type channel struct {
	*amqp091.Channel
	returns    chan amqp091.Return
	closes     chan *amqp091.Error
	confirming bool
	returned   uint16    // number of messages returned since the last reply
	broken     amqp.Code // reply code with which the broker closed the channel; 0 while none is known
}

func (c *Conn) openChannel(number uint16) amqp.Reply {
	ch := &channel{}
	err := c.patiently(func() (err error) {
		ch.Channel, err = c.conn.Channel()
		return err
	})
	if err != nil {
		return c.failure(nil, err)
	}
	ch.returns = ch.NotifyReturn(make(chan amqp091.Return, maxReturns))
	ch.closes = ch.NotifyClose(make(chan *amqp091.Error, 1))
	go receiveCancels(c.inbox, number, ch.NotifyCancel(make(chan string)))
	c.channels[number] = ch
	return amqp.Reply{Kind: amqp.OK}
}

// doOn sends one command on a channel and returns its reply.
func (c *Conn) doOn(ch *channel, cmd amqp.Command) amqp.Reply {
	if ch.broken != 0 {
		return amqp.Reply{Kind: amqp.ChannelClosed, Code: ch.broken}
	}
	if ch.IsClosed() {
		return c.failure(ch, amqp091.ErrClosed)
	}
	var reply amqp.Reply
	err := c.patiently(func() (err error) {
		reply, err = c.call(ch, cmd)
		return err
	})
	if err != nil {
		return c.failure(ch, err)
	}
	ch.collect(nil, func(amqp091.Return) { ch.returned++ })
	if reply.Kind != amqp.NoReply && ch.returned > 0 {
		reply.Code, reply.Returned, ch.returned = amqp.NoRoute, ch.returned, 0
	}
	if cmd.Method == amqp.ChannelClose {
		delete(c.channels, cmd.Channel)
	}
	return reply
}

// failure is the reply for an error on a channel or, if ch is nil, on the connection.
func (c *Conn) failure(ch *channel, err error) amqp.Reply {
	if c.gaveUp.Load() {
		c.conn = nil
		return amqp.Reply{Kind: amqp.Lost}
	}
	var e *amqp091.Error
	said := errors.As(err, &e) && e.Server
	if !said && ch != nil && !c.conn.IsClosed() {
		e, said = c.reason(ch.closes)
	}
	if said && e.Recover && ch != nil { // in AMQP, a soft error closes only the channel
		ch.broken = amqp.Code(e.Code)
		return amqp.Reply{Kind: amqp.ChannelClosed, Code: ch.broken}
	}
	if !said {
		e, said = c.reason(c.closes)
	}
	c.Kill()
	c.conn = nil
	reply := amqp.Reply{Kind: amqp.ConnectionClosed}
	if said && e.Server {
		reply.Code = amqp.Code(e.Code)
	}
	return reply
}

// reason waits for the broker's reason for a close, which amqp091-go reports a moment after the close. It is false if
// none arrives in time.
func (c *Conn) reason(closes <-chan *amqp091.Error) (*amqp091.Error, bool) {
	select {
	case e := <-closes:
		return e, e != nil
	case <-time.After(c.dialer.Timeout):
		return nil, false
	}
}
