package wire

import (
	"maps"
	"slices"

	"github.com/lockproof/lockproof/adapters/amqp/wire/frame"
)

// Together is a gate that passes everything at once but merges confirms. Messages that arrive together get one confirm,
// as RabbitMQ sometimes does.
type Together struct{ Through }

// Answered sends the answer, unless it is a confirm that Withhold merges with the next one.
func (Together) Answered(a *Answer) {
	if !a.Withhold() {
		a.Send()
	}
}

// Withhold holds this confirm back and reports whether it did. The channel's next confirm then stands for both
// messages, with the flag multiple. A confirm is held back only if another message that needs a confirm waits at the
// gate or may still arrive: otherwise the client may be waiting for this confirm. A withheld confirm is sent before the
// channel's next answer other than basic.return and basic.deliver, or once no such message is left.
func (a *Answer) Withhold() bool {
	c := a.Conn
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ack := a.Method.(*frame.BasicAck)
	if !ack || c.gone || !c.more && !c.inFlight.channel(a.Channel).confirmsMore() {
		return false
	}
	a.settle()
	if c.withheld == nil {
		c.withheld = make(map[uint16][]*Answer)
	}
	c.withheld[a.Channel] = append(c.withheld[a.Channel], a)
	return true
}

// confirmsMore reports whether a message that needs a confirm waits at the gate.
func (ch *channelInFlight) confirmsMore() bool {
	return slices.ContainsFunc(ch.parked, func(c *Command) bool { return c.confirm > 0 })
}

// relent sends withheld confirms on channels where no message that needs a confirm is left, because the client may be
// waiting for them.
func (c *Conn) relent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.more || len(c.withheld) == 0 {
		return
	}
	for _, channel := range slices.Sorted(maps.Keys(c.withheld)) {
		if kept := c.withheld[channel]; !c.inFlight.channel(channel).confirmsMore() {
			delete(c.withheld, channel)
			c.writeConfirms(kept)
		}
	}
}

// writeAnswer writes an answer. If the answer is a confirm, it is merged with the channel's withheld confirms. Before
// other answers, the withheld confirms are written, merged into one. basic.return and basic.deliver leave them
// withheld. The caller must hold mu.
func (c *Conn) writeAnswer(a *Answer) {
	kept := c.withheld[a.Channel]
	switch a.Method.(type) {
	case *frame.BasicReturn, *frame.BasicDeliver:
		kept = nil
	case *frame.BasicAck:
		delete(c.withheld, a.Channel)
		c.writeConfirms(append(kept, a))
		return
	}
	if len(kept) > 0 {
		delete(c.withheld, a.Channel)
		c.writeConfirms(kept)
	}
	c.writeOut(&a.Message)
}

// writeConfirms writes one confirm for all messages or, if an earlier message is unconfirmed, one for each. The caller
// must hold mu.
func (c *Conn) writeConfirms(all []*Answer) {
	tag := uint64(0)
	for _, a := range all {
		tag = max(tag, a.Method.(*frame.BasicAck).DeliveryTag)
	}
	channel := all[0].Channel
	if len(all) > 1 && !c.inFlight.channel(channel).unconfirmed(tag) {
		c.writeOut(&Message{Channel: channel, Method: &frame.BasicAck{DeliveryTag: tag, Multiple: true}})
		return
	}
	for _, a := range all {
		c.writeOut(&a.Message)
	}
}

// unconfirmed reports whether a message with this delivery tag or a lower one is not yet confirmed.
func (ch *channelInFlight) unconfirmed(tag uint64) bool {
	return slices.ContainsFunc(ch.pending, func(c *Command) bool { return c.confirm > 0 && c.confirm <= tag })
}
