package wire

import (
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// replyOf converts an answer to a reply of the model. Messages returned since the last answer are counted in the next
// reply that can hold their number.
func replyOf(m frame.Method, ch *channelInFlight) amqp.Reply {
	r := plainReply(m)
	if ch.returned > 0 && r.Kind != amqp.NoReply && !r.Closed() {
		r.Code, r.Returned, ch.returned = amqp.NoRoute, ch.returned, 0
	}
	return r
}

func plainReply(m frame.Method) amqp.Reply {
	switch m := m.(type) {
	case *frame.QueueDeclareOk:
		return amqp.Reply{Kind: amqp.OK, Messages: m.MessageCount, Consumers: m.ConsumerCount}
	case *frame.QueueDeleteOk:
		return amqp.Reply{Kind: amqp.OK, Messages: m.MessageCount}
	case *frame.QueuePurgeOk:
		return amqp.Reply{Kind: amqp.OK, Messages: m.MessageCount}
	case *frame.BasicGetOk:
		return amqp.Reply{Kind: amqp.GetOK, Messages: m.MessageCount, Number: m.DeliveryTag, Redelivered: m.Redelivered}
	case *frame.BasicGetEmpty:
		return amqp.Reply{Kind: amqp.GetEmpty}
	case *frame.BasicAck:
		return amqp.Reply{Kind: amqp.Ack}
	case *frame.BasicNack:
		return amqp.Reply{Kind: amqp.Nack}
	case *frame.ChannelClose:
		return amqp.Reply{Kind: amqp.ChannelClosed, Code: amqp.Code(m.ReplyCode)}
	case *frame.ConnectionClose:
		return amqp.Reply{Kind: amqp.ConnectionClosed, Code: amqp.Code(m.ReplyCode)}
	}
	if isAnswer[m.ID().Index()] {
		return amqp.Reply{Kind: amqp.OK}
	}
	return amqp.Reply{}
}
