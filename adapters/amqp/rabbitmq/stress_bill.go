package rabbitmq

import "github.com/lockproof/lockproof/model/amqp"

// bill counts the cost of an operation: commands, round trips and so on.
type bill struct {
	commands    int
	trips       int  // number of waits for replies; pipelined publishes share one
	replies     int  // number of replies: the round trips if nothing were pipelined
	channels    int  // number of channels opened
	connections int  // number of connections opened
	lost        int  // number of races that the operation has lost to other clients
	broken      bool // a fault, and not the operation, closed a channel
}

// charge adds the cost of commands and their replies.
func (b *bill) charge(batch []amqp.Command, replies []amqp.Reply) {
	for i, r := range replies {
		b.commands++
		if r.Kind != amqp.NoReply {
			b.replies++
			if !behind(batch, replies, i) {
				b.trips++
			}
		}
		switch batch[i].Method {
		case amqp.ChannelOpen:
			b.channels++
		case amqp.ConnectionOpen:
			b.connections++
		}
		if r.Kind == amqp.ChannelClosed {
			b.broken = b.broken || r.Code != amqp.ResourceLocked && r.Code != amqp.NotFound
			if r.Code == amqp.ResourceLocked && batch[i].Flags.Has(amqp.Exclusive) {
				b.lost++
			}
		}
	}
}

// behind reports whether command i was pipelined: it and the command before it are messages that need a confirm.
func behind(batch []amqp.Command, replies []amqp.Reply, i int) bool {
	return i > 0 && batch[i].Method == amqp.BasicPublish && batch[i-1].Method == amqp.BasicPublish &&
		replies[i-1].Kind != amqp.NoReply
}
