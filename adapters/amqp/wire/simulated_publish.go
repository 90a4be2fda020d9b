package wire

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// publish handles basic.publish.
func (x *simSession) publish(ch *simChannel, m *frame.BasicPublish, c *frame.Content) *refusal {
	cmd := amqp.Command{Method: amqp.BasicPublish}
	if err := x.checkPublish(m, c, &cmd); err != nil {
		return err
	}
	if m.Exchange == "" {
		// In a transaction, the queue may exist by the time of the commit.
		if cmd.Queue = x.host.queues.lookup(m.RoutingKey); cmd.Queue == absent && ch.mode == frame.TxSelectID {
			cmd.Queue = max(x.host.queues.enter(m.RoutingKey), absent)
		}
	}
	if m.Exchange != "" || len(c.Properties.Headers) > 0 {
		cmd.Route = x.host.queues.route(amqp.Routing{Exchange: withoutEnds(m.Exchange), Key: m.RoutingKey, Headers: x.headersOf(c.Properties.Headers)})
	}
	cmd.Number = x.host.messages.put(m, c, x.host.broker)
	if cmd.Number == 0 {
		return refusef(frame.ResourceError, "the simulated broker keeps at most %d bytes of messages", x.host.messages.limit)
	}
	if m.Mandatory {
		switch reached := x.host.broker.Reach(&cmd); {
		case ch.mode == frame.TxSelectID:
			if m.Exchange == "" && !x.s.opts.Broker.RoutedAtPublish {
				reached = append(reached[:0], cmd.Queue)
			}
			if len(reached) == 0 || !x.s.opts.Broker.RoutedAtPublish {
				ch.mandatory = append(ch.mandatory, pendingReturn{m, c, reached})
			}
		case len(reached) == 0:
			x.giveBack(ch, m, c)
		}
	}
	r, code := x.apply(ch, cmd)
	if code != 0 {
		return refusef(code, "")
	}
	x.confirm(ch, r)
	return nil
}

// confirm confirms a message if the channel is in confirm mode.
func (x *simSession) confirm(ch *simChannel, r amqp.Reply) {
	switch r.Kind {
	case amqp.Ack:
		ch.published++
		x.answer(ch.number, &frame.BasicAck{DeliveryTag: ch.published})
	case amqp.Nack: // Multiple and Requeue are set as in RabbitMQ; all earlier messages are confirmed
		ch.published++
		x.answer(ch.number, &frame.BasicNack{DeliveryTag: ch.published, Multiple: true, Requeue: true})
	}
}

// giveBack sends basic.return for a mandatory message that reached no queue.
func (x *simSession) giveBack(ch *simChannel, m *frame.BasicPublish, c *frame.Content) {
	x.say(Message{Channel: ch.number, Content: c, Method: &frame.BasicReturn{
		ReplyCode: uint16(frame.NoRoute), ReplyText: frame.NoRoute.Name(), Exchange: m.Exchange, RoutingKey: m.RoutingKey,
	}})
}

// checkPublish checks what the model does not check, and fills in cmd.
func (x *simSession) checkPublish(m *frame.BasicPublish, c *frame.Content, cmd *amqp.Command) *refusal {
	exchange, there := x.host.broker.Exchange(withoutEnds(m.Exchange))
	switch p := &c.Properties; {
	case m.Immediate:
		return refusef(frame.NotImplemented, "immediate=true")
	case m.Exchange != "" && !there:
		return noExchange(m.Exchange)
	case exchange.Internal:
		return refusef(frame.AccessRefused, "cannot publish to internal exchange '%s' in vhost '/'", m.Exchange)
	case p.Has&frame.HasHeaders != 0 && copied(p.Headers):
		return unsupported("messages with the headers CC and BCC, by which RabbitMQ routes copies")
	case p.Has&frame.HasHeaders != 0 && died(p.Headers):
		return unsupported("messages with the header x-death that clients publish")
	case p.Has&frame.HasReplyTo != 0 && p.ReplyTo == directReply:
		return unsupported("direct replies")
	case p.Has&frame.HasUserID != 0 && p.UserID != x.user:
		return refusef(frame.PreconditionFailed, "user_id property set to '%s' but authenticated user was '%s'", p.UserID, x.user)
	case p.Has&frame.HasExpiration != 0:
		ms, why := expiration(p.Expiration)
		if why != "" {
			return refusef(frame.PreconditionFailed, "invalid expiration '%s': %s", p.Expiration, why)
		}
		cmd.Flags |= amqp.Expiring
		cmd.Expiration = ms
	}
	if c.Properties.DeliveryMode == 2 {
		cmd.Flags |= amqp.Persistent
	}
	cmd.Priority = int16(c.Properties.Priority)
	if m.Mandatory {
		cmd.Flags |= amqp.Mandatory
	}
	return nil
}

// died reports whether the headers contain x-death, which only dead letters have.
func died(headers frame.Table) bool {
	_, has := headers.Lookup("x-death")
	return has
}

// copied reports whether the headers CC or BCC name further recipients.
func copied(headers frame.Table) bool {
	for name := range headers.All() {
		if name == "CC" || name == "BCC" {
			return true
		}
	}
	return false
}

// directReply is the pseudo-queue of RabbitMQ's direct reply-to: a client that names it in a request gets the reply
// without a queue.
const directReply = "amq.rabbitmq.reply-to"

// expiration parses the message property expiration, in milliseconds. why is RabbitMQ's error text if it is invalid.
func expiration(s string) (ms uint32, why string) {
	digits := strings.TrimLeft(s, "+-")
	n := len(digits) - len(strings.TrimLeft(digits, "0123456789"))
	sign := len(s) - len(digits)
	if n == 0 || sign > 1 {
		return 0, "no_integer"
	}
	if rest := digits[n:]; rest != "" {
		return 0, fmt.Sprintf("{leftover_string,%q}", rest)
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if v < 0 {
		return 0, fmt.Sprintf("{value_negative,%s}", s)
	}
	if err != nil || v > math.MaxUint32 {
		v = math.MaxUint32
	}
	return uint32(v), ""
}
