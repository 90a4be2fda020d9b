package broker

import "github.com/lockproof/lockproof/model/amqp"

// at identifies a channel of a connection.
type at struct {
	conn   Conn
	number uint16
}

// channelState is the state of a channel.
type channelState uint8

const (
	closed channelState = iota // never opened, or closed by the client
	open
	broken // closed by the broker with a code; the client may not know
)

// channelMode is the mode of a channel, which decides how publishes are answered.
type channelMode uint8

const (
	plain       channelMode = iota
	confirming              // confirm.select
	transacting             // tx.select
)

type channel struct {
	channelRecord
	unacked []delivered
	tx      transaction
}

// channelRecord is the part of a channel that has a fixed size.
type channelRecord struct {
	state    channelState
	mode     channelMode
	code     amqp.Code // the reason why it is broken
	prefetch uint16    // of future consumers
	returned uint16    // messages returned since the last reply
	tag      uint64    // the last delivery tag
}

func (ch *channel) reset(state channelState, code amqp.Code) {
	ch.channelRecord = channelRecord{state: state, code: code}
	ch.unacked = ch.unacked[:0]
	ch.tx.reset()
}

// channel is the channel if it is open or broken.
func (b *Broker) channel(on at) *channel {
	channels := b.conns[on.conn-1].channels
	if int(on.number) >= len(channels) || channels[on.number].state == closed {
		return nil
	}
	return &channels[on.number]
}

func (b *Broker) openChannel(c Conn, number uint16) amqp.Reply {
	conn := &b.conns[c-1]
	if number == 0 {
		return b.endConnection(c, amqp.ChannelError)
	}
	conn.channels = grow(conn.channels, int(number)+1)
	if conn.channels[number].state == open {
		return b.endConnection(c, amqp.ChannelError)
	}
	conn.channels[number].reset(open, 0)
	return ok
}

// CloseChannel closes a channel with an error of the broker's own. The client's next command on the channel is
// answered with ChannelClosed and this code.
func (b *Broker) CloseChannel(c Conn, number uint16, code amqp.Code) {
	if !b.Alive(c) {
		return
	}
	if ch := b.channel(at{c, number}); ch != nil && ch.state == open {
		b.endChannel(at{c, number}, broken, code)
		if b.mail != nil {
			b.forwardDead()
		}
	}
}

// fail answers a command with a channel error.
func (b *Broker) fail(on at, code amqp.Code) amqp.Reply {
	b.endChannel(on, broken, code)
	return amqp.Reply{Kind: amqp.ChannelClosed, Code: code}
}

// refuse answers a command with a channel error, or a connection error, depending on the code.
func (b *Broker) refuse(on at, code amqp.Code) amqp.Reply {
	if code == amqp.NotImplemented {
		return b.endConnection(on.conn, code)
	}
	return b.fail(on, code)
}

// endChannel ends an open channel: it removes its consumers, and requeues its unacknowledged messages. Exclusive
// queues stay (FACTS B10).
func (b *Broker) endChannel(on at, state channelState, code amqp.Code) {
	succeeded := b.dropConsumers(on)
	b.requeueAll(on)
	b.serveSuccessors(succeeded)
	b.conns[on.conn-1].channels[on.number].reset(state, code)
}

// selectMode puts a channel into confirm or transaction mode. The channel cannot leave either mode.
func (b *Broker) selectMode(on at, ch *channel, mode channelMode) amqp.Reply {
	if ch.mode != plain && ch.mode != mode {
		return b.fail(on, amqp.PreconditionFailed)
	}
	ch.mode = mode
	return ok
}
