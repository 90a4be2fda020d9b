package wire

import (
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// inFlight records which commands of a connection have not been answered yet.
type inFlight struct {
	number   uint64 // number of the last command
	closing  bool   // the broker has closed the connection
	awaited  int    // number of commands whose answer was not sent yet
	channels map[uint16]*channelInFlight
}

type channelInFlight struct {
	confirming bool
	confirm    uint64     // number of the last message that needs a confirm
	open       bool       // the broker has answered its channel.open
	closing    bool       // the broker has closed the channel, and the client has not acknowledged that
	parked     []*Command // commands that wait at the gate
	pending    []*Command // commands without an answer
	returned   uint16     // number of returned messages since the last answer
}

func (l *inFlight) channel(number uint16) *channelInFlight {
	ch := l.channels[number]
	if ch == nil {
		if l.channels == nil {
			l.channels = make(map[uint16]*channelInFlight)
		}
		ch = new(channelInFlight)
		l.channels[number] = ch
	}
	return ch
}

// arrived records a command. It reports whether the command waits at the gate: acknowledgements of closes and commands
// on a closed channel do not.
func (l *inFlight) arrived(c *Command) bool {
	if l.closing {
		c.passed = true
		return false
	}
	ch := l.channel(c.Channel)
	id := c.Method.ID()
	if id == frame.ChannelCloseOkID && ch.closing {
		delete(l.channels, c.Channel)
	}
	if isAnswer[id.Index()] || ch.closing {
		c.passed = true
		return false
	}
	l.number++
	c.channel = ch
	c.Number, c.Pipelined = l.number, l.awaited > 0
	c.Replies = id.IsSync() && !frame.NoWait(c.Method)
	switch {
	case id == frame.ConfirmSelectID:
		ch.confirming = true
	case id == frame.BasicPublishID && ch.confirming:
		ch.confirm++
		c.Replies, c.confirm = true, ch.confirm
	}
	if c.Replies {
		l.awaited++
		ch.pending = append(ch.pending, c)
	}
	ch.parked = append(ch.parked, c)
	return true
}

// answered determines which commands an answer settles, and sets a.Settles.
func (l *inFlight) answered(a *Answer) {
	ch := l.channel(a.Channel)
	switch m := a.Method.(type) {
	case *frame.ChannelOpenOk:
		ch.open = true
		a.Settles = ch.settled(a.Method.ID())
	case *frame.BasicReturn:
		ch.returned++
		return
	case *frame.BasicAck:
		a.Settles = ch.confirmed(m.DeliveryTag, m.Multiple)
	case *frame.BasicNack:
		a.Settles = ch.confirmed(m.DeliveryTag, m.Multiple)
	case *frame.ChannelClose:
		a.Settles, ch.pending, ch.closing = ch.pending, nil, true
	case *frame.ConnectionClose:
		a.Settles, l.closing = l.abandon(), true
	case *frame.ConnectionCloseOk:
		a.Settles = l.abandon()
	default:
		a.Settles = ch.settled(a.Method.ID())
	}
	a.Reply = replyOf(a.Method, ch)
	if a.Method.ID() == frame.ChannelCloseOkID && !ch.closing { // not a crossing close
		delete(l.channels, a.Channel)
	}
}

// crossing is the number of channel.close commands at the gate for a channel that the broker has closed. The broker
// would answer each of them.
func (ch *channelInFlight) crossing() (n int) {
	for _, c := range ch.parked {
		if c.Method.ID() == frame.ChannelCloseID {
			n++
		}
	}
	return n
}

// obsolete reports whether the broker has closed the command's channel since the client sent the command.
func (c *Command) obsolete() bool { return c.channel != nil && c.channel.closing }

// confirmed removes and returns the messages that are confirmed by a basic.ack or basic.nack with the given tag.
func (ch *channelInFlight) confirmed(tag uint64, multiple bool) []*Command {
	var settled []*Command
	ch.pending = slices.DeleteFunc(ch.pending, func(c *Command) bool {
		hit := c.confirm == tag || multiple && c.confirm != 0 && (c.confirm < tag || tag == 0)
		if hit {
			settled = append(settled, c)
		}
		return hit
	})
	return settled
}

// settled removes and returns the command that the method id answers: the oldest command that waits for such a method.
func (ch *channelInFlight) settled(id frame.ID) []*Command {
	if !isAnswer[id.Index()] {
		return nil
	}
	i := slices.IndexFunc(ch.pending, func(c *Command) bool { return c.confirm == 0 })
	if i < 0 {
		return nil
	}
	c := ch.pending[i]
	ch.pending = slices.Delete(ch.pending, i, i+1)
	return []*Command{c}
}

// abandon removes and returns all commands without an answer, in order of arrival.
func (l *inFlight) abandon() []*Command {
	var all []*Command
	for _, ch := range l.channels {
		all = append(all, ch.pending...)
		ch.pending = nil
	}
	slices.SortFunc(all, func(a, b *Command) int { return int(a.Number) - int(b.Number) })
	return all
}

// isNext reports whether no earlier command of the same channel waits at the gate.
func (l *inFlight) isNext(c *Command) bool {
	ch := l.channels[c.Channel]
	return ch == nil || len(ch.parked) == 0 || ch.parked[0] == c || !slices.Contains(ch.parked, c)
}

// leaves removes a command from those that wait at the gate. It does nothing if the channel no longer exists.
func (l *inFlight) leaves(c *Command) {
	if ch := l.channels[c.Channel]; ch != nil {
		ch.parked = slices.DeleteFunc(ch.parked, func(o *Command) bool { return o == c })
	}
}
