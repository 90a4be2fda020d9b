package wire

import (
	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
	"github.com/lockproof/lockproof/model/amqp"
)

// Model converts the message to a command of the model. Its Method is zero if the model does not have the method. queue
// maps names of queues to numbers; the name may be empty, which the broker interprets.
func (m *Message) Model(queue func(name string) amqp.Queue) amqp.Command {
	cmd := amqp.Command{Channel: m.Channel}
	if m.Channel == 0 {
		switch m.Method.(type) {
		case *frame.ConnectionOpen:
			cmd.Method = amqp.ConnectionOpen
		case *frame.ConnectionClose:
			cmd.Method = amqp.ConnectionClose
		}
		return cmd
	}
	switch f := m.Method.(type) {
	case *frame.QueueDeclare:
		cmd, _ = declaration(f, f.Queue)
		cmd.Channel, cmd.Queue = m.Channel, queue(f.Queue)
	case *frame.QueueDelete:
		cmd.Method, cmd.Queue = amqp.QueueDelete, queue(f.Queue)
	case *frame.QueuePurge:
		cmd.Method, cmd.Queue = amqp.QueuePurge, queue(f.Queue)
	case *frame.QueueBind:
		cmd.Method, cmd.Queue = amqp.QueueBind, queue(f.Queue)
	case *frame.BasicPublish:
		cmd.Method, cmd.Flags = amqp.BasicPublish, flagsOf(f, m.Content)
		if f.Exchange == "" {
			cmd.Queue = queue(f.RoutingKey)
		}
	case *frame.BasicGet:
		cmd.Method, cmd.Queue = amqp.BasicGet, queue(f.Queue)
	case *frame.BasicConsume:
		cmd.Method, cmd.Queue = amqp.BasicConsume, queue(f.Queue)
	case *frame.BasicAck:
		cmd.Method, cmd.Number, cmd.Flags = amqp.BasicAck, f.DeliveryTag, when(amqp.Multiple, f.Multiple)
	case *frame.BasicNack:
		cmd.Method, cmd.Number, cmd.Flags = amqp.BasicNack, f.DeliveryTag, when(amqp.Multiple, f.Multiple)|when(amqp.Requeue, f.Requeue)
	case *frame.BasicReject: // the same as a basic.nack for one delivery
		cmd.Method, cmd.Number, cmd.Flags = amqp.BasicNack, f.DeliveryTag, when(amqp.Requeue, f.Requeue)
	case *frame.BasicQos:
		cmd.Method, cmd.Number = amqp.BasicQos, uint64(f.PrefetchCount)
	default:
		cmd.Method = plain[m.Method.ID()]
	}
	return cmd
}

// plain maps methods of AMQP to those of the model, for methods whose arguments the model does not need.
var plain = map[frame.ID]amqp.Method{
	frame.ChannelOpenID: amqp.ChannelOpen, frame.ChannelCloseID: amqp.ChannelClose, frame.ConfirmSelectID: amqp.ConfirmSelect,
	frame.TxSelectID: amqp.TxSelect, frame.TxCommitID: amqp.TxCommit, frame.TxRollbackID: amqp.TxRollback,
	frame.BasicCancelID: amqp.BasicCancel, frame.BasicRecoverID: amqp.BasicRecover,
}

// when is flag if set is true, and no flag otherwise.
func when(flag amqp.Flags, set bool) amqp.Flags {
	if set {
		return flag
	}
	return 0
}

func flagsOf(m *frame.BasicPublish, c *frame.Content) amqp.Flags {
	return when(amqp.Mandatory, m.Mandatory) | when(amqp.Persistent, c != nil && c.Properties.DeliveryMode == 2)
}
