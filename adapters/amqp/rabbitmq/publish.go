package rabbitmq

import (
	"context"
	"fmt"
	"strconv"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/model/amqp"
)

// published is a message that was written and is not confirmed yet.
type published struct {
	*amqp091.DeferredConfirmation
	returned uint16
}

// publish writes a message. All messages have bodies of the same size. The confirmation is nil if the channel is not in
// confirm mode.
func (c *Conn) publish(ch *channel, cmd amqp.Command) (published, error) {
	c.sent++
	m := amqp091.Publishing{MessageId: fmt.Sprintf("%020d", c.sent), Body: body(cmd.Number), DeliveryMode: amqp091.Transient}
	if cmd.Flags.Has(amqp.Persistent) {
		m.DeliveryMode = amqp091.Persistent
	}
	if cmd.Flags.Has(amqp.Expiring) {
		m.Expiration = strconv.FormatUint(uint64(cmd.Expiration), 10)
	}
	m.Priority = uint8(cmd.Priority)
	exchange, key := amqp091.DefaultExchange, c.names.Name(cmd.Queue)
	if cmd.Route != 0 {
		r := c.names.Routing(cmd.Route)
		exchange, key, m.Headers = r.Exchange, r.Key, headers(r.Headers)
	}
	confirmation, err := ch.PublishWithDeferredConfirmWithContext(context.Background(), exchange, key,
		cmd.Flags.Has(amqp.Mandatory), false, m)
	return published{DeferredConfirmation: confirmation}, err
}

// confirmable is the length of the longest beginning of batch that can be written without waiting: messages for one
// channel in confirm mode.
func (c *Conn) confirmable(batch []amqp.Command) int {
	ch := c.channels[batch[0].Channel]
	if !c.up() || ch == nil || !ch.confirming || ch.broken != 0 {
		return 0
	}
	n := 0
	for n < len(batch) && batch[n].Method == amqp.BasicPublish && batch[n].Channel == batch[0].Channel {
		n++
	}
	return n
}

// publishAll writes messages, then waits for their confirms.
func (c *Conn) publishAll(batch []amqp.Command) []amqp.Reply {
	ch := c.channels[batch[0].Channel]
	first := c.sent + 1
	var sent []published
	err := c.patiently(func() error {
		for _, cmd := range batch {
			p, err := c.publish(ch, cmd)
			if err != nil {
				return err
			}
			sent = append(sent, p)
		}
		return nil
	})
	var replies []amqp.Reply
	for i := range sent {
		reply := c.confirmed(ch, sent, i, first)
		replies = append(replies, reply)
		if reply.Closed() || reply.Kind == amqp.Lost {
			return replies
		}
	}
	if err != nil {
		replies = append(replies, c.failure(ch, err))
	}
	return replies
}

// confirmed waits for the confirm of sent[i]. first is the number of sent[0]. A message is returned before it is
// confirmed, so confirmed also records which messages of sent were returned.
func (c *Conn) confirmed(ch *channel, sent []published, i int, first uint64) amqp.Reply {
	note := func(r amqp091.Return) {
		if n, err := strconv.ParseUint(r.MessageId, 10, 64); err == nil && n-first < uint64(len(sent)) {
			sent[n-first].returned++
		}
	}
	c.patiently(func() error {
		ch.collect(sent[i].Done(), note)
		return nil
	})
	switch {
	case sent[i].Acked() && sent[i].returned > 0:
		return amqp.Reply{Kind: amqp.Ack, Code: amqp.NoRoute, Returned: sent[i].returned}
	case sent[i].Acked():
		return amqp.Reply{Kind: amqp.Ack}
	case ch.IsClosed(): // amqp091-go reports unconfirmed messages as nacked when a channel closes
		return c.failure(ch, amqp091.ErrClosed)
	}
	return amqp.Reply{Kind: amqp.Nack}
}

// collect calls note with each returned message until done is closed, and then for those that have already arrived.
// amqp091-go delivers messages in order of arrival.
func (ch *channel) collect(done <-chan struct{}, note func(amqp091.Return)) {
	returns := ch.returns
	for done != nil {
		select {
		case r, open := <-returns:
			if !open {
				returns = nil
				continue
			}
			note(r)
		case <-done:
			done = nil
		}
	}
	for {
		select {
		case r, open := <-returns:
			if !open {
				return
			}
			note(r)
		default:
			return
		}
	}
}
