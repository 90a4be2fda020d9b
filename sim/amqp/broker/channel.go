package broker

import "github.com/lockproof/lockproof/model/amqp"

// at identifies a channel: its connection, and its number there.
type at struct {
	conn   Conn
	number uint16
}

// channelState is the state of a channel, as the broker sees it.
type channelState uint8

const (
	closed channelState = iota // the client has not opened the channel, or has closed it
	open
	broken // the broker has closed the channel with an error code; the client may not know
)

// channelMode is the mode of a channel. It decides how published messages are answered.
type channelMode uint8

const (
	plain       channelMode = iota
	confirming              // confirm mode, after confirm.select
	transacting             // transaction mode, after tx.select
)

type channel struct {
	channelRecord
	unacked []delivered
	tx      transaction
}

// channelRecord has the fields of a channel that have a fixed size.
type channelRecord struct {
	state    channelState
	mode     channelMode
	code     amqp.Code // error code with which the broker closed the channel
	prefetch uint16    // prefetch count of consumers that are added later; 0 is no limit
	returned uint16    // number of messages returned since the last reply
	tag      uint64    // last delivery tag used
}

func (ch *channel) reset(state channelState, code amqp.Code) {
	ch.channelRecord = channelRecord{state: state, code: code}
	ch.unacked = ch.unacked[:0]
	ch.tx.reset()
}

// channel returns the channel if it is open, or closed by the broker; otherwise nil.
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

// CloseChannel closes a channel because of an error in the broker, with the given code. The client's next command on
// the channel is answered with ChannelClosed and this code.
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

// fail closes a channel with an error code, and returns this as the reply.
func (b *Broker) fail(on at, code amqp.Code) amqp.Reply {
	b.endChannel(on, broken, code)
	return amqp.Reply{Kind: amqp.ChannelClosed, Code: code}
}

// refuse closes a channel or, if the code requires it, the whole connection, and returns this as the reply.
func (b *Broker) refuse(on at, code amqp.Code) amqp.Reply {
	if code == amqp.NotImplemented {
		return b.endConnection(on.conn, code)
	}
	return b.fail(on, code)
}

// endChannel ends an open channel: it removes the channel's consumers and requeues its unacknowledged messages.
// Exclusive queues stay, since they belong to the connection (FACTS B10).
func (b *Broker) endChannel(on at, state channelState, code amqp.Code) {
	succeeded := b.dropConsumers(on)
	b.requeueAll(on)
	b.serveSuccessors(succeeded)
	b.conns[on.conn-1].channels[on.number].reset(state, code)
}

// selectMode puts a channel into confirm or transaction mode. A channel cannot leave its mode.
func (b *Broker) selectMode(on at, ch *channel, mode channelMode) amqp.Reply {
	if ch.mode != plain && ch.mode != mode {
		return b.fail(on, amqp.PreconditionFailed)
	}
	ch.mode = mode
	return ok
}
