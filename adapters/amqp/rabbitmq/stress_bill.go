package rabbitmq

import "github.com/lockproof/lockproof/model/amqp"

// bill is the cost of an operation.
type bill struct {
	commands    int
	trips       int  // round trips
	replies     int  // number of round trips if the client waited for every reply
	channels    int  // number of channels opened
	connections int  // number of connections opened
	lost        int  // number of lost races
	broken      bool // a channel broke without the operation's fault
}

// charge adds the cost of answered commands.
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

// behind reports whether command i was written without waiting for the reply to the command before: both are messages that
// need a confirm.
func behind(batch []amqp.Command, replies []amqp.Reply, i int) bool {
	return i > 0 && batch[i].Method == amqp.BasicPublish && batch[i-1].Method == amqp.BasicPublish &&
		replies[i-1].Kind != amqp.NoReply
}
