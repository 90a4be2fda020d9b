package rabbitmq

import (
	"encoding/binary"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/lockproof/lockproof/model/amqp"
)

// call carries out a command with amqp091-go and converts the result to a reply of the model.
func (c *Conn) call(ch *channel, cmd amqp.Command) (amqp.Reply, error) {
	done := amqp.Reply{Kind: amqp.OK}
	queue := c.names.Name(cmd.Queue)
	switch cmd.Method {
	case amqp.ChannelClose:
		return done, ch.Close()
	case amqp.ConfirmSelect:
		err := ch.Confirm(false)
		ch.confirming = ch.confirming || err == nil
		return done, err
	case amqp.TxSelect:
		return done, ch.Tx()
	case amqp.TxCommit:
		return done, ch.TxCommit()
	case amqp.TxRollback:
		return done, ch.TxRollback()
	case amqp.QueueDeclare:
		return ch.declare(queue, c.names.Routing(cmd.Route), cmd)
	case amqp.QueueDelete:
		n, err := ch.QueueDelete(queue, cmd.Flags.Has(amqp.IfUnused), cmd.Flags.Has(amqp.IfEmpty), false)
		return amqp.Reply{Kind: amqp.OK, Messages: uint32(n)}, err
	case amqp.QueuePurge:
		n, err := ch.QueuePurge(queue, false)
		return amqp.Reply{Kind: amqp.OK, Messages: uint32(n)}, err
	case amqp.QueueBind, amqp.QueueUnbind, amqp.ExchangeDeclare, amqp.ExchangeDelete, amqp.ExchangeBind, amqp.ExchangeUnbind:
		return done, ch.route(queue, c.names.Routing(cmd.Route), cmd)
	case amqp.BasicPublish:
		_, err := c.publish(ch, cmd)
		return amqp.Reply{}, err
	case amqp.BasicGet:
		return ch.get(queue, cmd)
	case amqp.BasicConsume:
		return done, c.consume(ch, queue, cmd)
	case amqp.BasicCancel:
		return done, ch.Cancel(consumerTag(cmd.Number), false)
	case amqp.BasicQos:
		return done, ch.Qos(int(cmd.Number), 0, false)
	case amqp.BasicRecover:
		//lint:ignore SA1019 what clients may do is compared, and they may do that
		return done, ch.Recover(true)
	case amqp.BasicAck:
		return amqp.Reply{}, ch.Ack(cmd.Number, cmd.Flags.Has(amqp.Multiple))
	case amqp.BasicNack:
		return amqp.Reply{}, ch.Nack(cmd.Number, cmd.Flags.Has(amqp.Multiple), cmd.Flags.Has(amqp.Requeue))
	}
	panic("rabbitmq: no such command: " + cmd.Method.String())
}

func (ch *channel) declare(queue string, dead amqp.Routing, cmd amqp.Command) (amqp.Reply, error) {
	declare := ch.QueueDeclare
	if cmd.Flags.Has(amqp.Passive) {
		declare = ch.QueueDeclarePassive
	}
	q, err := declare(queue, cmd.Flags.Has(amqp.Durable), cmd.Flags.Has(amqp.AutoDelete),
		cmd.Flags.Has(amqp.Exclusive), false, table(cmd.Args, dead))
	return amqp.Reply{Kind: amqp.OK, Messages: uint32(q.Messages), Consumers: uint32(q.Consumers)}, err
}

// route creates or removes an exchange or a binding.
func (ch *channel) route(queue string, r amqp.Routing, cmd amqp.Command) error {
	switch cmd.Method {
	case amqp.QueueBind:
		return ch.QueueBind(queue, r.Key, r.Exchange, false, headers(r.Headers))
	case amqp.QueueUnbind:
		return ch.QueueUnbind(queue, r.Key, r.Exchange, headers(r.Headers))
	case amqp.ExchangeBind:
		return ch.ExchangeBind(r.Destination, r.Key, r.Exchange, false, headers(r.Headers))
	case amqp.ExchangeUnbind:
		return ch.ExchangeUnbind(r.Destination, r.Key, r.Exchange, false, headers(r.Headers))
	case amqp.ExchangeDelete:
		return ch.ExchangeDelete(r.Exchange, cmd.Flags.Has(amqp.IfUnused), false)
	}
	declare := ch.ExchangeDeclare
	if cmd.Flags.Has(amqp.Passive) {
		declare = ch.ExchangeDeclarePassive
	}
	arguments := amqp091.Table{}
	if r.Alternate != "" {
		arguments["alternate-exchange"] = r.Alternate
	}
	return declare(r.Exchange, r.Type, cmd.Flags.Has(amqp.Durable), cmd.Flags.Has(amqp.AutoDelete), cmd.Flags.Has(amqp.Internal), false, arguments)
}

// headers converts the model's headers, of a message or a binding, to a table of amqp091-go.
func headers(h amqp.Headers) amqp091.Table {
	t := amqp091.Table{}
	for name, value := range h.All() {
		if t[name] = any(value); value == amqp.Present {
			t[name] = nil
		}
	}
	return t
}

// table converts the model's queue arguments to a table under RabbitMQ's names. dead is the exchange and routing key
// for dead letters.
func table(a amqp.Arguments, dead amqp.Routing) amqp091.Table {
	t := amqp091.Table{}
	if a.Has&amqp.HasDeadLetterExchange != 0 {
		t["x-dead-letter-exchange"] = dead.Exchange
	}
	if a.Has&amqp.HasDeadLetterKey != 0 {
		t["x-dead-letter-routing-key"] = dead.Key
	}
	if a.Has&amqp.Quorum != 0 {
		t[amqp091.QueueTypeArg] = amqp091.QueueTypeQuorum
	}
	if a.Has&amqp.HasDeliveryLimit != 0 {
		t["x-delivery-limit"] = int64(a.DeliveryLimit)
	}
	if a.Has&amqp.HasMaxPriority != 0 {
		t["x-max-priority"] = int16(a.MaxPriority)
	}
	if a.Has&amqp.HasMaxLength != 0 {
		t[amqp091.QueueMaxLenArg] = int64(a.MaxLength)
	}
	if a.Has&amqp.HasExpires != 0 {
		t[amqp091.QueueTTLArg] = int64(a.Expires)
	}
	if a.Has&amqp.HasMessageTTL != 0 {
		t[amqp091.QueueMessageTTLArg] = int64(a.MessageTTL)
	}
	if a.Has&amqp.SingleActive != 0 {
		t[amqp091.SingleActiveConsumerArg] = true
	}
	if a.Has&amqp.HasOverflow != 0 {
		t[amqp091.QueueOverflowArg] = [...]string{
			amqp.DropHead: amqp091.QueueOverflowDropHead, amqp.RejectPublish: amqp091.QueueOverflowRejectPublish,
			amqp.RejectPublishDLX: amqp091.QueueOverflowRejectPublishDLX,
		}[a.Overflow]
	}
	return t
}

func (ch *channel) get(queue string, cmd amqp.Command) (amqp.Reply, error) {
	d, some, err := ch.Get(queue, cmd.Flags.Has(amqp.NoAck))
	if !some {
		return amqp.Reply{Kind: amqp.GetEmpty}, err
	}
	return amqp.Reply{
		Kind: amqp.GetOK, Messages: d.MessageCount, Number: d.DeliveryTag,
		Message: identity(d.Body), Redelivered: d.Redelivered, Deliveries: cameBack(d.Headers),
	}, err
}

// cameBack is the header x-delivery-count: how often the message was returned to its queue. It is 0 if the queue does
// not count that.
func cameBack(headers amqp091.Table) uint16 {
	n, _ := headers["x-delivery-count"].(int64)
	return uint16(n)
}

// body is the content of the message that has the given number in the model. identity is its inverse; it returns 0 for
// other contents.

func body(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

func identity(body []byte) uint64 {
	if len(body) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(body)
}
