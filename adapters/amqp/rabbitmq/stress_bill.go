package rabbitmq

import "github.com/lockproof/lockproof/model/amqp"

// bill is what an operation took.
type bill struct {
	commands    int
	trips       int  // round trips
	replies     int  // round trips if every reply were waited for
	channels    int  // opened
	connections int  // opened
	lost        int  // races
	broken      bool // a channel broke for no reason of its own
}

// charge adds commands that were answered.
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

// behind reports whether a command was written without waiting for the reply to the one before it:
// a message that is confirmed, behind another.
func behind(batch []amqp.Command, replies []amqp.Reply, i int) bool {
	return i > 0 && batch[i].Method == amqp.BasicPublish && batch[i-1].Method == amqp.BasicPublish &&
		replies[i-1].Kind != amqp.NoReply
}
